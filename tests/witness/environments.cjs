// Real locked environments: gpkg has to accept each as it is and to find as good a one by itself.
// usage: environments.cjs NODE_MODULES CORPUS SOLVE_DUMP
//   (a) every package requested as name=version=build: exactly these records come out. Under strict
//       priority a name that a higher channel has too needs its channel said, as the locks' own
//       manifests do; under flexible priority none does;
//   (b) the specs of the lock's own manifest, with the records of its day: the answer holds together
//       (world.cjs judges) and no requested package is older than the locked one. Where one is, then
//       because its locked version makes the requested packages together older, or one of them worse by
//       what comes before versions: recomputed, else it fails.
'use strict';

const { readFileSync, existsSync } = require('node:fs');
const { basename, join } = require('node:path');
const { parseSpec, useRattler } = require('./records.cjs');
const { World, askGpkg } = require('./world.cjs');

const [modules, corpus, dump] = process.argv.slice(2);
const { Version } = useRattler(modules);

const locked = (id) => {
    const [channel, subdir, fn] = id.split('/');
    return { channel, subdir, fn };
};
const idOf = (one) => `${basename(one.channel)}/${one.subdir}/${one.fn}`;

const solve = (question) => {
    const [answer] = askGpkg(dump, [question]);
    if (!answer.records) throw new Error(answer.explanation ?? answer.error);
    return answer;
};

/// Negative when `a` is older: by version, then by build number.
const age = (a, b) =>
    new Version(a.version).compare(new Version(b.version)) || a.build_number - b.build_number;

/// (a)
const checkExactly = (question, records) => {
    const world = new World({ ...question, specs: [] });
    const hidden = (one) => question.priority === 'strict' && world.find(one) === undefined;
    const specs = records.map(
        (one) => `${hidden(one) ? `${one.channel}::` : ''}${one.name}=${one.version}=${one.build}`,
    );
    const answer = solve({ ...question, specs });
    const [ours, theirs] = [answer.records.map(idOf), records.map(idOf)];
    const wrong = [
        ...ours.filter((id) => !theirs.includes(id)).map((id) => `not asked for: ${id}`),
        ...theirs.filter((id) => !ours.includes(id)).map((id) => `missing: ${id}`),
    ];
    if (wrong.length > 0) throw new Error(wrong.join('\n    '));
    const said = specs.filter((spec) => spec.includes('::')).map((spec) => spec.replace(/=.*/, ''));
    return said.length > 0 ? `, with ${said.join(', ')}` : '';
};

/// Why the answer has an older `name` than the lock: what happens where the locked version is imposed.
const reasonFor = (world, answer, wanted) => {
    const constraint = `${wanted.name}==${wanted.version}=${wanted.build}`;
    const imposed = solve({ ...world.question, constraints: [constraint] });
    const records = imposed.records.map((one) => world.find({ ...one, channel: basename(one.channel) }));
    const { order, key, requested, ours, theirs } = world.decide(answer, records);
    if (!requested || order >= 0)
        throw new Error(`${wanted.name}: nothing stands in the way of ${wanted.fn}, yet it is not chosen`);
    return `with ${wanted.fn} there would be ${theirs.fn} instead of ${ours.fn}: ${key}`;
};

/// (b)
const checkFreely = (question, lockedRecords) => {
    const world = new World(question);
    const answer = solve(question);
    const records = answer.records.map(
        (one) => world.find({ ...one, channel: basename(one.channel) }) ?? one,
    );
    const faults = world.faults(records);
    if (faults.length > 0) throw new Error(faults.join('\n    '));
    const requested = new Set(question.specs.map((spec) => parseSpec(spec).name));
    const older = [];
    let newer = 0;
    for (const wanted of lockedRecords.filter((one) => requested.has(one.name))) {
        const chosen = records.find((one) => one.name === wanted.name);
        if (age(chosen, wanted) < 0) older.push(reasonFor(world, records, wanted));
        if (age(chosen, wanted) > 0) ++newer;
    }
    const kept = records.filter((one) => lockedRecords.some((other) => idOf(other) === idOf(one))).length;
    const summary = [
        `${records.length} packages in ${answer.milliseconds.toFixed(0)} ms`,
        `${kept} as locked`,
        `${newer} of ${requested.size} requested newer, ${older.length} older`,
    ].join(', ');
    return [summary, ...older].join('\n        ');
};

const checkEnvironment = (environment) => {
    const base = {
        folders: environment.channels.map((channel) => join(corpus, channel)),
        virtuals: environment.virtual_packages,
        priority: environment.strict_priority_ok ? 'strict' : 'flexible',
    };
    const everything = new World({ ...base, priority: 'disabled', specs: [] });
    const name = (id) => locked(id).fn.replace(/-[^-]+-[^-]+$/, '');
    const records = environment.packages.map((id) =>
        everything.candidates(name(id)).find((one) => idOf(one) === id),
    );
    if (records.includes(undefined)) throw new Error('a locked package is not in the corpus');
    for (const priority of ['strict', 'flexible'])
        console.log(
            `    exactly, ${priority}: ${records.length} packages${checkExactly({ ...base, priority }, records)}`,
        );
    const question = { ...base, specs: environment.specs, excludeNewer: environment.max_timestamp };
    console.log(`    freely: ${checkFreely(question, records)}`);
};

const environments = readFileSync(join(corpus, 'environments.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
let failures = 0;
let checked = 0;
for (const environment of environments) {
    console.log(`${environment.repo} ${environment.environment}:`);
    const missing = environment.channels.filter((channel) => !existsSync(join(corpus, channel)));
    if (missing.length > 0) {
        console.log(`    left out, the corpus has no channel ${missing.join(', ')}`);
        continue;
    }
    try {
        checkEnvironment(environment);
        ++checked;
    } catch (failure) {
        ++failures;
        console.log(`    FAILED ${failure.message}`);
    }
}
console.log(`${checked} environments hold, ${failures} do not`);
if (failures > 0 || checked === 0) process.exitCode = 1;
