// Compares gpkg's order of versions and its version specs with rattler's, over the corpus.
// usage: rattler_specs.cjs NODE_MODULES CORPUS SPEC_DUMP
// Every difference must be one of `known` below, with the clause that decides it; any other fails.
'use strict';

const { execFileSync } = require('node:child_process');
const { readdirSync, existsSync } = require('node:fs');
const { join } = require('node:path');
const loadRattler = require('./load_rattler.cjs');

const [modules, corpus, dump] = process.argv.slice(2);
const { Version, VersionSpec } = loadRattler(modules);

/// The version part of a MatchSpec as rattler's VersionSpec takes it, by a plain reading of
/// "name version build" and "name=version=build".
const versionPart = (spec) => {
    const rest = spec.trim().replace(/^[^ =<>!~]+\s*/, '');
    if (rest === '') return '*';
    const joined = /^={0,2}([^=<>!~|, ]+)=([^=]+)$/.exec(rest);
    if (joined) return joined[1] === '*' ? '*' : `==${joined[1]}`;
    return rest.replace(/([<>=!~,|])\s+/g, '$1').replace(/\s+([,|<>!])/g, '$1').split(/\s+/)[0];
};

/// The literals of the clauses that match `pattern`, which has the literal as its first group.
const literals = (spec, pattern) =>
    versionPart(spec).split(/[,|()]/).map((clause) => pattern.exec(clause)?.[1]).filter(Boolean);

// Where gpkg answers otherwise on purpose. `applies` sees what was asked of which version.
const known = [
    {
        what: "'1.2.*' takes 1.2a1: the last segment of the prefix may go on, as openssl's 1.1.1w needs it",
        clause: "CEP 29 'starts with', decided as conda and libsolv do",
        applies: ({ spec, text }) =>
            spec !== undefined &&
            literals(spec, /^(?:!=|={0,2})([^*<>=!~]+?)(?:\.?\*)+$/)
                .concat(literals(spec, /^=([^=*]+)$/))
                .some((literal) => text.startsWith(literal) && /^[a-z]/.test(text.slice(literal.length))),
    },
    {
        what: "'==2.7.*' is '2.7.*' wherever it stands, not '==2.7'",
        clause: "CEP 29's reading of 'pkg ==1.8.*' as starts with 1.8",
        applies: ({ spec, text }) =>
            spec !== undefined &&
            literals(spec, /^==([^*]+)\.\*$/).some((literal) => text.startsWith(literal)),
    },
    {
        what: "'>=5.9*' takes 5.9a1 and '<5.9*' does not",
        clause: "conda's order, where 'V*' lies before all of V",
        applies: ({ spec, text }) =>
            spec !== undefined &&
            literals(spec, /^(?:>=|<)([^*]*[^*.])\*$/).some(
                (literal) => text.startsWith(literal) && version(text).compare(version(literal)) < 0,
            ),
    },
    {
        what: "'deva' is a word of its own, not 'dev' and 'a'",
        clause: 'CEP 33, maximal runs of digits and non-digits',
        applies: ({ spec, text }) => spec !== undefined && /dev[a-z]/.test(text),
    },
];

const kMost = 1 << 30;
const unpack = (path) =>
    execFileSync('zstd', ['-dcq', path], { maxBuffer: kMost, encoding: 'utf8' });
const lines = (path) => unpack(path).split('\n').filter((line) => line !== '');

const ask = (questions) =>
    execFileSync(dump, { input: questions.join('\n') + '\n', maxBuffer: kMost, encoding: 'utf8' })
        .split('\n')
        .slice(0, questions.length);

/// A generator with a fixed seed, so that a failure can be repeated.
let seed = 20260821;
const random = (below) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 4294967296) * below);
};

const versionCache = new Map();
const version = (text) => {
    if (!versionCache.has(text)) {
        try {
            versionCache.set(text, new Version(text));
        } catch {
            versionCache.set(text, null);
        }
    }
    return versionCache.get(text);
};

let failures = 0;
const judge = (name, question, ours, theirs) => {
    if (ours === theirs) return;
    const rule = known.find((one) => one.applies(question));
    if (rule) {
        rule.count = (rule.count ?? 0) + 1;
        return;
    }
    if (++failures <= 40) console.log(`DIFFERS ${name}: gpkg ${ours}, rattler ${theirs}`);
};

// ---- (a) the order of versions

const versions = lines(join(corpus, 'versions.txt.zst'));
const theirOrder = (a, b) => {
    const [x, y] = [version(a), version(b)];
    if (x === null || y === null) return 'error';
    const order = x.compare(y);
    return order < 0 ? '<' : order > 0 ? '>' : '=';
};
const sorted = [...versions].sort((a, b) => ({ '<': -1, '>': 1 })[theirOrder(a, b)] ?? 0);
const pairs = sorted.slice(1).map((text, i) => [sorted[i], text]);
for (let i = 0; i < 200000; ++i)
    pairs.push([versions[random(versions.length)], versions[random(versions.length)]]);
const orders = ask(pairs.map(([a, b]) => `compare\t${a}\t${b}`));
pairs.forEach(([a, b], i) => judge(`compare ${a} ${b}`, {}, orders[i], theirOrder(a, b)));
if (orders.includes('error')) judge('a version that gpkg cannot read', {}, 'error', 'read');
console.log(`${pairs.length} pairs of ${versions.length} versions compared`);

// ---- (b) the version parts of all MatchSpecs

const published = new Map();
for (const channel of readdirSync(corpus))
    for (const subdir of ['linux-64', 'noarch']) {
        const path = join(corpus, channel, subdir, 'repodata.json.zst');
        if (!existsSync(path)) continue;
        const repodata = JSON.parse(unpack(path));
        for (const part of ['packages', 'packages.conda'])
            for (const record of Object.values(repodata[part] ?? {})) {
                if (!published.has(record.name)) published.set(record.name, new Set());
                published.get(record.name).add(record.version);
            }
    }

const kMostOfOneName = 60;
const specs = lines(join(corpus, 'matchspecs.txt.zst'));
const samples = specs.map((spec) => {
    const own = [...(published.get(spec.trim().split(/[ =<>!~]/)[0]) ?? [])];
    while (own.length > kMostOfOneName) own.splice(random(own.length), 1);
    // The literals of the spec itself and what is just beside them are where mistakes show.
    const written = versionPart(spec).split(/[,|<>=~*]|!=/).map((s) => s.replace(/\.$/, ''));
    for (const literal of written.filter((s) => s !== '' && version(s) !== null))
        own.push(literal, ...['.0', '.1', 'a1', '.dev0', 'post1', '+1', '_1'].map((s) => literal + s));
    for (let i = 0; i < 15; ++i) own.push(versions[random(versions.length)]);
    return own.filter((text) => version(text) !== null);
});
const answers = ask(specs.map((spec, i) => ['match', spec, ...samples[i]].join('\t')));
let asked = 0;
specs.forEach((spec, i) => {
    let theirs;
    try {
        const parsed = new VersionSpec(versionPart(spec), 'lenient');
        theirs = samples[i].map((text) => (parsed.matches(version(text)) ? '1' : '0'));
        parsed.free();
    } catch {
        theirs = null;
    }
    if (theirs === null || answers[i] === 'error') {
        judge(`read ${spec}`, {}, answers[i] === 'error' ? 'error' : 'read', theirs ? 'read' : 'error');
        return;
    }
    asked += theirs.length;
    theirs.forEach((their, k) => {
        const text = samples[i][k];
        judge(`match ${spec} of ${text}`, { spec, text }, answers[i][k], their);
    });
});
console.log(`${specs.length} specs asked of ${asked} versions`);

for (const rule of known)
    console.log(`${rule.count ?? 0} differences as decided by ${rule.clause}: ${rule.what}`);
if (failures > 0) {
    console.log(`${failures} differences that nothing explains`);
    process.exit(1);
}
