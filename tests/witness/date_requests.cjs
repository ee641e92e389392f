// Requests for dates.cjs: names whose newest versions exclude each other, by themselves, joined, and with
// others, since names drawn at random almost never compete; and some of those.
'use strict';

const { existsSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const { readChannel, version } = require('./records.cjs');

const kPlain = ['__unix=0=0', '__linux=6.1', '__glibc=2.36', '__archspec=1=x86_64_v3'];
const kDriver = '__cuda=12.8';
const kSlice = 16;
const withAndWithoutDriver = (request) => {
    const virtuals = request.virtuals.filter((one) => !one.startsWith('__cuda'));
    return [
        { ...request, virtuals },
        { ...request, virtuals: [...virtuals, kDriver] },
    ];
};

/// A generator with a fixed seed, so that a failure can be repeated.
const generator = (seed) => (below) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 4294967296) * below);
};
const shuffled = (list, random) => {
    const copy = [...list];
    for (let i = copy.length - 1; i > 0; --i) {
        const j = random(i + 1);
        [copy[i], copy[j]] = [copy[j], copy[i]];
    }
    return copy;
};

/// Of the pairs those that leave no name in more than `most` of them.
const balanced = (pairs, most) => {
    const uses = new Map();
    return pairs.filter((pair) => {
        if (pair.some((name) => (uses.get(name) ?? 0) >= most)) return false;
        for (const name of pair) uses.set(name, (uses.get(name) ?? 0) + 1);
        return true;
    });
};

/// [{ specs, conflicting }]: two to six names each.
const drawnRequests = (corpus) => {
    const random = generator(20261128);
    const byName = readChannel(join(corpus, 'conda-forge'));
    const names = [...byName.keys()].filter((name) => !name.startsWith('_')).sort();
    const pairs = readFileSync(join(corpus, 'conflicting-pairs.txt'), 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => line.split(' '));
    // Some names exclude most others, whatever the versions.
    const mixed = balanced(shuffled(pairs, random), 12);
    const some = (list) => list[random(list.length)];
    const limited = (name) => {
        const versions = [...new Set(byName.get(name).map((one) => one.version))].sort((a, b) =>
            version(a).compare(version(b)),
        );
        return `${name} <=${versions[Math.floor((versions.length * 3) / 4)]}`;
    };
    const draw = (count, conflicting, make) =>
        Array.from({ length: count }, (_, i) => ({ specs: [...new Set(make(i))], conflicting }));
    const others = (count) => Array.from({ length: count }, () => some(names));
    return [
        ...draw(Math.min(240, mixed.length), true, (i) => mixed[i]),
        ...draw(120, true, () => [...some(mixed), ...some(mixed)]),
        ...draw(20, true, () => [...some(mixed), ...some(mixed), ...some(mixed)]),
        ...draw(120, true, () => [...some(mixed), ...others(1 + random(3))]),
        ...draw(40, true, () => [...some(mixed), some(['python 3.11.*', 'python 3.12.*', 'numpy <2'])]),
        ...draw(40, true, () => some(mixed).map((name, i) => (i === 0 ? limited(name) : name))),
        ...draw(100, false, () => others(2 + random(5))),
    ];
};

/// Every request, { title, folders, virtuals, specs, excludeNewer, conflicting }; of a slice every kSlice-th.
const dateRequests = (corpus, all) => {
    const drawn = drawnRequests(corpus).map((request) => ({
        ...request,
        folders: [join(corpus, 'conda-forge')],
        virtuals: kPlain,
    }));
    const locked = readFileSync(join(corpus, 'environments.jsonl'), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
        .map((one) => ({
            title: `${one.repo} ${one.environment}`,
            // A channel that the corpus lacks had none of the locked packages.
            folders: one.channels.map((name) => join(corpus, name)).filter((folder) => existsSync(folder)),
            virtuals: one.virtual_packages,
            specs: one.specs,
            excludeNewer: one.max_timestamp,
        }));
    const chosen = (list) => (all ? list : list.filter((_, i) => i % kSlice === 0));
    return [...chosen(drawn), ...chosen(locked)].flatMap(withAndWithoutDriver);
};

module.exports = { dateRequests, generator, shuffled };
