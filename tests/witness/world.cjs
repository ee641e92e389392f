// What a request means, decided a second time: which records it can see, whether an environment holds
// together, which of two records of one name is better and by what key, and which of two environments.
// Shares no code with gpkg.
'use strict';

const { execFileSync } = require('node:child_process');
const { matches, parseSpec, readChannel, version } = require('./records.cjs');
const { commonToolkits, compareFits, driverOf, fit, isToolkitPart, kBeyondDriver, textOf, toolkitOf } =
    require('./toolkit.cjs');
const { datesOf } = require('./version_dates.cjs');

const kToolkit = 'CUDA'; // in place of a name

const readVirtual = (text) => {
    const [name, number, build = '0'] = text.split('=');
    return { name, version: number, build, build_number: 0, depends: [], constrains: [], fn: text };
};

/// Everything a decision may depend on. question: { folders, priority, virtuals, excludeNewer, specs }
class World {
    constructor(question) {
        this.question = question;
        this.virtuals = (question.virtuals ?? []).map(readVirtual);
        this.known = new Map();
        this.bestKnown = new Map();
        this.trackedAloneKnown = new Map();
        this.datesKnown = new Map();
    }

    /// The records of a name that the request can see.
    candidates(name) {
        if (!this.known.has(name)) this.known.set(name, this.collect(name));
        return this.known.get(name);
    }

    collect(name) {
        if (name.startsWith('__')) return this.virtuals.filter((one) => one.name === name);
        const { folders, priority = 'strict', excludeNewer = Infinity, specs } = this.question;
        const asked = specs
            .map(parseSpec)
            .filter((spec) => spec.name === name && spec.channel !== undefined)
            .map((spec) => spec.channel);
        const offers = folders
            .map((folder, rank) => ({ rank, records: readChannel(folder).get(name) ?? [] }))
            .filter(({ records }) => records.length > 0)
            .filter(({ records }) => asked.every((channel) => channel === records[0].channel));
        const seen = priority === 'strict' ? offers.slice(0, 1) : offers;
        return seen.flatMap(({ rank, records }) =>
            records
                .filter((record) => record.timestamp <= excludeNewer)
                .map((record) => ({ ...record, rank })),
        );
    }

    find({ name, subdir, fn, channel }) {
        return this.candidates(name).find(
            (one) =>
                one.fn === fn && one.subdir === subdir && (channel === undefined || one.channel === channel),
        );
    }

    /// What is wrong with this environment, as lines; none when it is a solution.
    faults(records) {
        const faults = [];
        const chosen = new Map(this.virtuals.map((one) => [one.name, one]));
        for (const record of records) {
            if (chosen.has(record.name)) faults.push(`two records of ${record.name}`);
            chosen.set(record.name, record);
        }
        const met = (spec) => {
            const found = chosen.get(parseSpec(spec).name);
            return found !== undefined && matches(spec, found);
        };
        const allowed = (spec) => {
            const found = chosen.get(parseSpec(spec).name);
            return found === undefined || matches(spec, found);
        };
        for (const spec of this.question.specs)
            if (!met(spec)) faults.push(`the requested ${spec} is not met`);
        for (const record of records) {
            if (this.find(record) === undefined)
                faults.push(`${record.fn} is not a record that this request can see`);
            for (const spec of record.depends)
                if (!met(spec)) faults.push(`${record.fn} depends on ${spec}, which is not met`);
            for (const spec of record.constrains)
                if (!allowed(spec)) faults.push(`${record.fn} constrains ${spec}, which is broken`);
        }
        const needed = this.reachable(chosen);
        for (const record of records) if (!needed.has(record.name)) faults.push(`nothing needs ${record.fn}`);
        return faults;
    }

    reachable(chosen) {
        const queue = this.question.specs.map((spec) => parseSpec(spec).name);
        const seen = new Set(queue);
        for (const name of queue)
            for (const spec of chosen.get(name)?.depends ?? []) {
                const next = parseSpec(spec).name;
                if (seen.has(next)) continue;
                seen.add(next);
                queue.push(next);
            }
        return seen;
    }

    /// Whether a record has track_features or says of a name that only its records with them will do, as
    /// python_abi "*_cp314t" says of python.
    costsFeatures(record) {
        const wantsThem = (spec) => {
            if (!this.trackedAloneKnown.has(spec)) {
                const fitting = this.candidates(parseSpec(spec).name).filter((one) => matches(spec, one));
                this.trackedAloneKnown.set(spec, fitting.length > 0 && fitting.every((one) => one.tracked));
            }
            return this.trackedAloneKnown.get(spec);
        };
        return Boolean(record.tracked) || [...record.depends, ...record.constrains].some(wantsThem);
    }

    /// The highest version that the spec can get, and whether track_features are its price.
    best(spec) {
        if (!this.bestKnown.has(spec)) {
            let best;
            for (const one of this.candidates(parseSpec(spec).name)) {
                if (!matches(spec, one)) continue;
                const order = best ? version(one.version).compare(version(best.version)) : 1;
                const tracked = this.costsFeatures(one);
                if (order > 0) best = { version: one.version, tracked };
                else if (order === 0) best.tracked &&= tracked;
            }
            this.bestKnown.set(spec, best);
        }
        return this.bestKnown.get(spec);
    }

    /// { order, key }: order < 0 when `a` is the better candidate of its name, by the named key.
    compare(a, b) {
        const first = this.mainKeys(a, b);
        if (first) return first;
        const peers = this.candidates(a.name).filter((one) => !this.mainKeys(a, one));
        const names = peers
            .map((one) => new Set(one.depends.map((spec) => parseSpec(spec).name)))
            .reduce((common, mine) => new Set([...common].filter((name) => mine.has(name))));
        for (const name of [...names].sort()) {
            const [x, y] = [this.reach(a, name), this.reach(b, name)];
            if (!x !== !y) return { order: x ? -1 : 1, key: `${name} can be had at all` };
            if (!x) continue;
            if (!!x.tracked !== !!y.tracked)
                return { order: x.tracked ? 1 : -1, key: `${name} without track_features` };
            const order = version(y.version).compare(version(x.version));
            if (order !== 0) return { order, key: 'dependencies can be newer' };
        }
        const last = [
            ['newer timestamp', b.timestamp - a.timestamp],
            ['tie-break: channel', a.rank - b.rank],
            ['tie-break: arch before noarch', (a.subdir === 'noarch') - (b.subdir === 'noarch')],
            ['tie-break: .conda', b.fn.endsWith('.conda') - a.fn.endsWith('.conda')],
            ['tie-break: build string', a.build < b.build ? -1 : Number(a.build > b.build)],
            ['tie-break: sha256', a.sha256 < b.sha256 ? -1 : Number(a.sha256 > b.sha256)],
        ];
        const [key, order] = last.find(([, value]) => value !== 0) ?? ['the same', 0];
        return { order, key };
    }

    mainKeys(a, b) {
        const first = this.standing(a, b) ?? this.newer(a, b);
        if (first || a.build_number === b.build_number) return first;
        return { order: b.build_number - a.build_number, key: 'higher build number' };
    }

    standing(a, b) {
        if (a.tracked !== b.tracked) return { order: a.tracked - b.tracked, key: 'track_features' };
        if (this.question.priority === 'flexible' && a.rank !== b.rank)
            return { order: a.rank - b.rank, key: 'higher channel' };
        return undefined;
    }

    newer(a, b) {
        const order = version(b.version).compare(version(a.version));
        return order === 0 ? undefined : { order, key: 'higher version' };
    }

    /// Of several specs on one name the lowest of what each can get.
    reach(record, name) {
        const bests = record.depends
            .filter((spec) => parseSpec(spec).name === name)
            .map((spec) => this.best(spec));
        if (bests.includes(undefined)) return undefined;
        return bests.reduce((low, one) =>
            version(one.version).compare(version(low.version)) < 0 ? one : low,
        );
    }

    /// The date of a record's version.
    date({ name, version: text }) {
        if (!this.datesKnown.has(name)) this.datesKnown.set(name, datesOf(this, name));
        return this.datesKnown.get(name).get(text) ?? 0;
    }

    /// The release of CUDA that an environment is for: of those that all of its records go with the one that
    /// suits the driver best. null where records contradict each other, undefined where none says anything.
    toolkit(records) {
        const common = commonToolkits(records);
        if (!common) return undefined;
        const known = new Set(
            records
                .flatMap(({ name }) => this.candidates(name))
                .map((one) => Math.min(...(toolkitOf(one) ?? []))),
        );
        const driver = driverOf(this.virtuals);
        const byFit = (a, b) => compareFits(fit(a, driver), fit(b, driver));
        return [...common].filter((release) => known.has(release)).sort(byFit)[0] ?? null;
    }

    /// What decides between two environments, undefined where they are the same: { order, key, name, ours,
    /// theirs, requested }, order < 0 when the first is better, and a name that they fill differently.
    /// First comes one CUDA, which the driver runs. Of the requested packages the standings decide, then
    /// the sum of the dates of their versions (of parts of the toolkit after that), then builds in the
    /// order of naming. Then dependencies, breadth first and level by level: standings, versions, builds.
    /// The toolkit is part of the level after the first package that says which.
    decide(ours, theirs) {
        const sides = [ours, theirs];
        const both = {
            filled: sides.map((list) => new Map(list.map((one) => [one.name, one]))),
            toolkits: sides.map((list) => this.toolkit(list)),
        };
        const unfit = this.compareToolkits(both, true);
        if (unfit) return { ...unfit, requested: true };
        const seen = new Set();
        const unseen = (names) =>
            [...new Set(names)].filter((name) => !seen.has(name) && !name.startsWith('__'));
        const requested = unseen(this.question.specs.map((spec) => parseSpec(spec).name));
        for (let level = requested; level.length > 0;) {
            for (const name of level) seen.add(name);
            const found =
                level === requested ? this.decideRequested(both, level) : this.decideLevel(both, level);
            if (found) return { ...found, requested: level === requested };
            const records = level.map((name) => both.filled[0].get(name)).filter(Boolean);
            level = unseen(
                records.flatMap((one) => [
                    ...(toolkitOf(one) ? [kToolkit] : []),
                    ...one.depends.map((spec) => parseSpec(spec).name),
                ]),
            );
        }
        return undefined;
    }

    decideRequested(both, names) {
        const parts = names.filter(isToolkitPart);
        return (
            this.first(both, names, (a, b) => this.standing(a, b)) ??
            this.newestTogether(both, names.filter((name) => !isToolkitPart(name))) ??
            this.newestTogether(both, parts) ??
            this.first(both, names, (a, b) => this.compare(a, b))
        );
    }

    decideLevel(both, names) {
        return (
            this.first(both, names, (a, b) => this.standing(a, b)) ??
            this.first(both, names, (a, b) => this.newer(a, b)) ??
            this.first(both, names, (a, b) => this.compare(a, b))
        );
    }

    /// The first of the names that `order` tells apart.
    first({ filled, toolkits }, names, order) {
        for (const name of names) {
            if (name === kToolkit) {
                const found = this.compareToolkits({ filled, toolkits }, false);
                if (found) return found;
                continue;
            }
            const [ours, theirs] = filled.map((one) => one.get(name));
            if (!ours || !theirs) throw new Error(`only one of them has ${name}`);
            const found = order(ours, theirs);
            if (found && found.order !== 0) return { ...found, name, ours, theirs };
        }
        return undefined;
    }

    newestTogether(both, names) {
        const sum = (side) => names.reduce((total, name) => total + this.date(both.filled[side].get(name)), 0);
        const byVersion = this.first(both, names, (a, b) => this.newer(a, b));
        const order = sum(1) - sum(0);
        if (!byVersion || order === 0) return byVersion;
        return { ...byVersion, order, key: 'newer together' };
    }

    /// Records that contradict each other are worse than what the driver does not run.
    fitOf(toolkit) {
        if (toolkit === undefined) return [0, 0];
        return toolkit === null ? [kBeyondDriver + 1, 0] : fit(toolkit, driverOf(this.virtuals));
    }

    compareToolkits({ filled, toolkits }, isUnfitOnly) {
        const fits = toolkits.map((one) => this.fitOf(one));
        const order = compareFits(...fits);
        if (order === 0 || (isUnfitOnly && fits.every(([how]) => how < kBeyondDriver))) return undefined;
        const name = [...filled[0].keys()].find((one) => {
            const [ours, theirs] = filled.map((records) => records.get(one));
            return theirs && ours.fn !== theirs.fn && toolkitOf(ours);
        });
        const [ours, theirs] = filled.map((records) => records.get(name));
        const told = toolkits.map((one) => (one ? textOf(one) : one === null ? 'several' : 'none'));
        return { order, key: `CUDA ${told[0]} instead of ${told[1]}`, name, ours, theirs };
    }
}

/// gpkg's answers to many questions, by one run of solve_dump.
const askGpkg = (dump, questions) => {
    const input = questions
        .map(({ folders, priority = 'strict', virtuals = [], excludeNewer, specs, constraints = [] }) =>
            [
                ...folders.map((folder) => `channel ${folder}`),
                `priority ${priority}`,
                ...virtuals.map((one) => `virtual ${one}`),
                ...(excludeNewer === undefined ? [] : [`exclude-newer ${excludeNewer}`]),
                ...specs.map((spec) => `spec ${spec}`),
                ...constraints.map((spec) => `constraint ${spec}`),
                'solve\n',
            ].join('\n'),
        )
        .join('');
    const lines = execFileSync(dump, { input, maxBuffer: 1 << 30, encoding: 'utf8' }).split('\n');
    return questions.map((question, i) => JSON.parse(lines[i]));
};

module.exports = { World, askGpkg };
