// Whether the requested packages are together as new as possible: gpkg's sum of their dates beside rattler's.
// usage: dates.cjs NODE_MODULES CORPUS GPKG [--all]
//   a slice of the requests of date_requests.cjs, or all, each with and without a CUDA driver
//
// version_dates.cjs has the dates. Fails where
//   - gpkg's sum is below rattler's, or gpkg finds nothing and rattler does;
//   - another order of the same specs gives another sum;
//   - an answer of gpkg does not hold together (world.cjs judges);
//   - gpkg's sum is nowhere above rattler's: then the requests prove nothing.
// Answers of rattler that do not hold together are left out. Its answers are kept beside NODE_MODULES.
'use strict';

const { existsSync, readFileSync, statSync, writeFileSync } = require('node:fs');
const { availableParallelism } = require('node:os');
const { basename, join } = require('node:path');
const { parseSpec, useRattler } = require('./records.cjs');
const { datesOf } = require('./version_dates.cjs');
const { World } = require('./world.cjs');
const { startGpkg } = require('./gpkg_program.cjs');
const { start } = require('./rattler_solver.cjs');
const { dateRequests, generator, shuffled } = require('./date_requests.cjs');

const [modules, corpus, program, ...flags] = process.argv.slice(2);
useRattler(modules);

const kDay = 86400000;
const days = (milliseconds) => Math.round(milliseconds / kDay);
const signed = (number) => (number > 0 ? `+${number}` : String(number));

/// What is asked once of a request: its names, the dates of their versions, and which answers hold together.
class Judge {
    constructor(request) {
        this.world = new World({ priority: 'strict', ...request });
        const names = request.specs.map((spec) => parseSpec(spec).name);
        this.names = [...new Set(names)].filter((name) => !name.startsWith('__')).sort();
        this.dates = new Map(this.names.map((name) => [name, datesOf(this.world, name)]));
        this.judged = new Map();
    }

    versions(records) {
        const chosen = new Map(records.map((one) => [one.name, one.version]));
        return this.names.map((name) => chosen.get(name));
    }

    sum(records) {
        const dated = this.versions(records).map((text, i) => this.dates.get(this.names[i]).get(text) ?? NaN);
        return dated.reduce((total, date) => total + date, 0);
    }

    faults(records) {
        const key = records.map((one) => one.fn).sort().join();
        if (!this.judged.has(key)) {
            const known = records.map(
                (one) =>
                    this.world.find({ ...one, channel: basename(one.channel) }) ?? {
                        ...one,
                        depends: [],
                        constrains: [],
                    },
            );
            this.judged.set(key, this.world.faults(known));
        }
        return this.judged.get(key);
    }

    /// "scikit-image 0.26.0, 0.20.0 (-988 days)" of each name in which two answers differ.
    differences(first, second) {
        const [a, b] = [this.versions(first), this.versions(second)];
        const line = (name, i) => {
            const gap = this.dates.get(name).get(b[i]) - this.dates.get(name).get(a[i]);
            return `${name} ${a[i]}, ${b[i]} (${signed(days(gap))} days)`;
        };
        return this.names.map((name, i) => a[i] !== b[i] && line(name, i)).filter(Boolean).join('; ');
    }
}

/// Other orders of the specs: all of up to three, else the reverse and a shuffle.
const otherOrders = (specs) => {
    if (specs.length > 3) return [[...specs].reverse(), shuffled(specs, generator(specs.join().length))];
    const orders = (list) =>
        list.length < 2
            ? [list]
            : list.flatMap((one, i) => orders(list.filter((_, j) => j !== i)).map((rest) => [one, ...rest]));
    return orders(specs).slice(1);
};

const titleOf = ({ title, specs, virtuals }) =>
    `${title ?? specs.map((spec) => (spec.includes(' ') ? `'${spec}'` : spec)).join(' ')}` +
    `${virtuals.some((one) => one.startsWith('__cuda=')) ? ' (CUDA driver)' : ''}`;

/// gpkg's answers to all requests, to each in every order: [[answer, ...], ...].
const askGpkg = async (requests) => {
    const gpkg = startGpkg(program);
    const answers = requests.map(() => []);
    let next = 0;
    const work = async () => {
        while (next < requests.length) {
            const i = next++;
            for (const specs of [requests[i].specs, ...otherOrders(requests[i].specs)]) {
                answers[i].push(await gpkg.solve({ ...requests[i], specs }));
                if (!answers[i][0].records) break; // refusals take long: they come with fixes
            }
        }
    };
    await gpkg.solve(requests[0]); // reads the index once for all
    await Promise.all(Array.from({ length: availableParallelism() }, work));
    gpkg.stop();
    return answers;
};

/// rattler's answers, of which it gave some in an earlier run.
const askRattler = async (requests) => {
    const store = join(modules, '..', 'rattler-dates.json');
    const known = existsSync(store) ? JSON.parse(readFileSync(store, 'utf8')) : {};
    const stamp = (folder) => statSync(join(folder, 'noarch')).mtimeMs;
    const keep = () => writeFileSync(store, JSON.stringify(known));
    const rattler = await start(modules, [...new Set(requests.flatMap(({ folders }) => folders))]);
    const answers = [];
    for (const request of requests) {
        const { folders, virtuals, specs, excludeNewer } = request;
        const key = JSON.stringify([folders, folders.map(stamp), virtuals, specs, excludeNewer]);
        const { records, refusal } = (known[key] ??= await rattler.solve(request));
        answers.push({ records, refusal });
        if (answers.length % 100 === 0) keep();
    }
    rattler.stop();
    keep();
    return answers;
};

const found = {
    below: [],
    above: [],
    'other order': [],
    'same sum': [],
    inconsistent: [],
    'only rattler': [],
    'rattler inconsistent': [],
};
const counts = { equal: 0, 'both refuse': 0, 'only gpkg': 0 };

const judgeOrders = (title, judge, [first, ...others]) => {
    for (const other of others) {
        if (!other.records !== !first.records) {
            found['other order'].push([Infinity, `${title}: one order has a solution, another has none`]);
        } else if (first.records) {
            const gap = Math.abs(judge.sum(other.records) - judge.sum(first.records));
            const what = judge.differences(first.records, other.records);
            if (what) found[gap > 0 ? 'other order' : 'same sum'].push([gap, `${title}: ${what}`]);
            if (what) return;
        }
    }
};

const judgeRequest = (request, ours, theirs) => {
    const title = titleOf(request);
    const judge = new Judge(request);
    judgeOrders(title, judge, ours);
    const faults = ours.flatMap(({ records }) => (records ? judge.faults(records) : []));
    if (faults.length > 0) found.inconsistent.push([faults.length, `${title}: ${faults[0]}`]);
    const [{ records }] = ours;
    if (!records || !theirs.records) {
        if (!records && theirs.records) found['only rattler'].push([0, `${title}: ${ours[0].refusal}`]);
        else ++counts[records ? 'only gpkg' : 'both refuse'];
    } else if (judge.faults(theirs.records).length > 0) {
        found['rattler inconsistent'].push([0, `${title}: ${judge.faults(theirs.records)[0]}`]);
    } else {
        const gap = judge.sum(records) - judge.sum(theirs.records);
        const line = `${signed(days(gap))} days  ${title}: ${judge.differences(theirs.records, records)}`;
        if (gap === 0) ++counts.equal;
        else found[gap < 0 ? 'below' : 'above'].push([Math.abs(gap), line]);
    }
};

const print = (heading, lines) => {
    if (lines.length > 0) console.log(`\n${heading}`);
    for (const [, line] of [...lines].sort(([a], [b]) => b - a)) console.log(`    ${line}`);
};

const main = async () => {
    const requests = dateRequests(corpus, flags.includes('--all'));
    const begin = performance.now();
    const seconds = () => `${((performance.now() - begin) / 1000).toFixed(0)} s`;
    const ours = await askGpkg(requests);
    console.log(`gpkg: ${ours.flat().length} solves after ${seconds()}`);
    const theirs = await askRattler(requests);
    console.log(`rattler: ${theirs.length} solves after ${seconds()}`);
    requests.forEach((request, i) => judgeRequest(request, ours[i], theirs[i]));

    print('gpkg below rattler (rattler, gpkg):', found.below);
    print('gpkg above rattler (rattler, gpkg):', found.above);
    print('another sum in another order:', found['other order']);
    print('other versions of the same sum in another order:', found['same sum']);
    print('inconsistent answers of gpkg:', found.inconsistent);
    print('only rattler finds a solution:', found['only rattler']);
    print('inconsistent answers of rattler, left out:', found['rattler inconsistent']);
    const conflicting = requests.filter((one) => one.conflicting).length;
    console.log(`\n${requests.length} requests, ${conflicting} of names whose newest versions exclude each other`);
    for (const [what, count] of [...Object.entries(found).map(([k, v]) => [k, v.length]), ...Object.entries(counts)])
        console.log(`${String(count).padStart(6)}  ${what}`);
    console.log(`judged after ${seconds()}`);
    const bad = ['below', 'other order', 'inconsistent', 'only rattler'].filter((what) => found[what].length > 0);
    if (found.above.length === 0) bad.push('none above');
    if (bad.length > 0) {
        console.log(`FAILED: ${bad.join(', ')}`);
        process.exitCode = 1;
    }
};

main();
