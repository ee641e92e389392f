// Compares gpkg's solutions with rattler's over the corpus, package for package.
// usage: rattler_solves.cjs NODE_MODULES CORPUS SOLVE_DUMP GPKG
//
// The two search differently: gpkg takes of all solutions the best, the requested packages being the newest
// together and dependencies the best level by level; rattler takes the first solution on a depth-first
// way. So they may differ, but only so: what comes first in gpkg's order and tells the two environments
// apart says that gpkg's is the better one. Each difference is recomputed from repodata.json (world.cjs).
// Then rattler's choice for a name of that difference is imposed on gpkg and the rest compared again,
// until both environments are the same: every difference is one of those named, or follows from one.
// Anything else fails. Where rattler's environment is for several releases of CUDA, which gpkg excludes,
// rattler is asked again without records that gpkg's release does not go with.
'use strict';

const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { useRattler } = require('./records.cjs');
const { World, askGpkg } = require('./world.cjs');
const { dryRun } = require('./gpkg_program.cjs');
const { start } = require('./rattler_solver.cjs');
const { textOf, toolkitOf } = require('./toolkit.cjs');

const [modules, corpus, dump, program] = process.argv.slice(2);
useRattler(modules);
const { requests, drawn } = require('./solve_requests.cjs');
const kMostSteps = 200;

const rules = new Map();
const failures = [];
const idOf = (one) => `${one.channel.split('/').at(-1)}/${one.subdir}/${one.fn}`;
const sameSet = (a, b) => a.length === b.length && a.map(idOf).sort().join() === b.map(idOf).sort().join();

/// gpkg's answer as records of the world.
const ours = (world, constraints) => {
    const [answer] = askGpkg(dump, [{ ...world.question, constraints }]);
    if (answer.records === undefined) return { refusal: answer.explanation ?? answer.error };
    const records = answer.records.map((one) => ({ ...one, channel: one.channel.split('/').at(-1) }));
    return { records: records.map((one) => world.find(one) ?? one) };
};

/// The program has to say what the solver says.
const compareProgram = (question, mine) => {
    const answer = dryRun(program, question);
    if (!answer.records !== !mine.records)
        throw new Error(`the program ${answer.refusal ?? 'finds a solution'}, the solver does not`);
    if (answer.records && !sameSet(answer.records, mine.records))
        throw new Error('the program gives other packages than the solver');
    if (answer.refusal && !answer.refusal.includes(mine.refusal.split('\n')[0]))
        throw new Error(`the program and the solver explain it differently: ${answer.refusal}\n\n${mine.refusal}`);
};

/// rattler's answer, and what was left out of its records.
const askRattler = async (rattler, world, mine) => {
    const theirs = await rattler.solve(world.question);
    const toolkits = [mine, theirs].map(
        ({ records = [] }) => world.toolkit(records.map((one) => world.find(one) ?? one)),
    );
    if (!toolkits[0] || toolkits[1] !== null) return [theirs, undefined];
    const isFor = (record) => toolkitOf(record)?.has(toolkits[0]) ?? true;
    const again = await rattler.solve({ ...world.question, isOffered: isFor });
    return [again, `one toolkit: CUDA ${textOf(toolkits[0])}, of which rattler mixes several releases`];
};

/// Names every difference; returns the names and the rules, or throws where there is no rule.
const explainDifferences = (world, first, theirs) => {
    const found = [];
    const constraints = [];
    for (let mine = first; !sameSet(mine, theirs);) {
        if (constraints.length > kMostSteps) throw new Error('the differences do not end');
        const place = world.decide(mine, theirs);
        if (!place) throw new Error('the same choices, yet different environments');
        if (!place.name) throw new Error(`${place.key}, but all that says so is the same`);
        if (place.order >= 0)
            throw new Error(`${idOf(place.theirs)} is better than ${idOf(place.ours)}: ${place.key}`);
        const rule = `${place.requested ? 'requested' : 'level by level'}: ${place.key}`;
        found.push({ rule, ...place });
        const { channel, name, version, build } = place.theirs;
        constraints.push(`${channel}::${name}==${version}=${build}`);
        const next = ours(world, constraints);
        if (!next.records) throw new Error(`gpkg refuses ${constraints.at(-1)}: ${next.refusal}`);
        mine = next.records;
    }
    return found;
};

const compareOne = async (request, world, mine, rattler) => {
    const [theirs, rule] = await askRattler(rattler, world, mine);
    if (mine.refusal || theirs.refusal) {
        if (!mine.refusal) throw new Error(`rattler refuses: ${theirs.refusal}`);
        if (!theirs.refusal) throw new Error(`gpkg refuses: ${mine.refusal}`);
        if (request.solvable === true) throw new Error(`both refuse: ${mine.refusal}`);
        return `both refuse; gpkg: ${mine.refusal.split('\n')[0]}`;
    }
    if (request.solvable === false) throw new Error('both find a solution');
    const records = theirs.records.map((one) => world.find(one) ?? one);
    const faults = [
        ...world.faults(mine.records).map((fault) => `gpkg: ${fault}`),
        ...world.faults(records).map((fault) => `rattler: ${fault}`),
    ];
    if (faults.length > 0) throw new Error(faults.join('\n    '));
    for (const [name, pattern] of Object.entries(request.build ?? {})) {
        const build = mine.records.find((one) => one.name === name)?.build;
        if (!pattern.test(build ?? '')) throw new Error(`${name} is ${build}, not ${pattern}`);
    }
    const found = explainDifferences(world, mine.records, records);
    if (rule) found.unshift({ rule });
    for (const one of found) rules.set(one.rule, (rules.get(one.rule) ?? 0) + 1);
    const different = mine.records.filter((one) => !records.some((other) => idOf(one) === idOf(other)));
    const lines = found.map(
        (one) => `\n    ${one.rule}${one.ours ? `: ${one.ours.fn} where rattler has ${one.theirs.fn}` : ''}`,
    );
    return found.length === 0
        ? `the same ${mine.records.length} packages`
        : `${mine.records.length} packages, ${different.length} different, from:${lines.join('')}`;
};

const main = async () => {
    const all = [
        ...requests,
        ...drawn(join(corpus, 'conda-forge'), Number(process.env.GPKG_DRAWN_REQUESTS ?? 40)),
    ];
    const channels = [...new Set(all.flatMap((one) => one.channels))];
    const missing = channels.filter((channel) => !existsSync(join(corpus, channel)));
    if (missing.length > 0) throw new Error(`the corpus lacks ${missing.join(', ')}`);
    const rattler = await start(
        modules,
        channels.map((channel) => join(corpus, channel)),
    );
    for (const request of all) {
        const folders = request.channels.map((channel) => join(corpus, channel));
        const question = { ...request, folders, priority: 'strict' };
        const world = new World(question);
        const driver = request.virtuals.find((one) => one.startsWith('__cuda='));
        const title = [...request.specs, ...(driver ? [`(${driver})`] : [])].join(' ');
        try {
            const mine = ours(world, []);
            if (request.program) compareProgram(question, mine);
            console.log(`${title}: ${await compareOne(request, world, mine, rattler)}`);
        } catch (failure) {
            failures.push(title);
            console.log(`FAILED ${title}:\n    ${failure.message}`);
        }
    }
    rattler.stop();
    console.log(`\n${all.length} requests. What decided the differences:`);
    for (const [rule, count] of [...rules].sort()) console.log(`${String(count).padStart(6)}  ${rule}`);
    if (failures.length > 0) {
        console.log(`${failures.length} requests with differences that nothing explains`);
        process.exitCode = 1;
    }
};

main();
