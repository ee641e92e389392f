// Compares gpkg's solutions with rattler's over the corpus, package for package.
// usage: rattler_solves.cjs NODE_MODULES CORPUS SOLVE_DUMP GPKG
//
// The two search differently: gpkg settles one name after the other (the requested ones, then
// dependencies breadth first) on the best candidate that any solution has; rattler takes the first
// solution on a depth-first way. So they may differ, but only so: at the first name in gpkg's order
// that they fill differently, gpkg's record is the better one by a key of the preference order. Each
// difference is recomputed from repodata.json (world.cjs). Then rattler's choice for that name is
// imposed on gpkg and the rest compared again, until both environments are the same: every difference
// is one of those named, or follows from one. Anything else fails.
'use strict';

const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { useRattler } = require('./records.cjs');
const { World, askGpkg } = require('./world.cjs');
const { dryRun } = require('./gpkg_program.cjs');
const { start } = require('./rattler_solver.cjs');

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

/// Names every difference; returns the names and the rules, or throws where there is no rule.
const explainDifferences = (world, first, theirs) => {
    const found = [];
    const constraints = [];
    for (let mine = first; !sameSet(mine, theirs);) {
        if (constraints.length > kMostSteps) throw new Error('the differences do not end');
        const place = world.firstDifference(mine, theirs);
        if (!place) throw new Error('the same choices, yet different environments');
        if (!place.ours || !place.theirs) throw new Error(`only one of them has ${place.name}`);
        const { order, key } = world.compare(place.ours, place.theirs);
        if (order >= 0) throw new Error(`${idOf(place.theirs)} is better than ${idOf(place.ours)}: ${key}`);
        const rule = `${place.requested ? 'requested' : 'breadth first'}: ${key}`;
        found.push({ rule, ...place });
        const { channel, name, version, build } = place.theirs;
        constraints.push(`${channel}::${name}==${version}=${build}`);
        const next = ours(world, constraints);
        if (!next.records) throw new Error(`gpkg refuses ${constraints.at(-1)}: ${next.refusal}`);
        mine = next.records;
    }
    return found;
};

const compareOne = (request, world, mine, theirs) => {
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
    for (const { rule } of found) rules.set(rule, (rules.get(rule) ?? 0) + 1);
    const different = mine.records.filter((one) => !records.some((other) => idOf(one) === idOf(other)));
    const lines = found.map(
        ({ rule, ours: a, theirs: b }) => `\n    ${rule}: ${a.fn} where rattler has ${b.fn}`,
    );
    return different.length === 0
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
            const theirs = await rattler.solve(question);
            const mine = ours(world, []);
            if (request.program) compareProgram(question, mine);
            console.log(`${title}: ${compareOne(request, world, mine, theirs)}`);
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
