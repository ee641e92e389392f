// Records and MatchSpecs read a second time, straight from repodata.json and with rattler's versions,
// so that gpkg's answers can be judged by something that shares no code with it.
'use strict';

const { execFileSync } = require('node:child_process');
const { existsSync, readFileSync } = require('node:fs');
const { basename, join } = require('node:path');
const loadRattler = require('./load_rattler.cjs');

const kSubdirs = ['linux-64', 'noarch'];
const kNeverText = /^(?:|\*)$/;

let rattler;
/// Where npm installed @conda-org/rattler.
const useRattler = (modules) => {
    rattler = loadRattler(modules);
    return rattler;
};

const memo = (make) => {
    const known = new Map();
    return (key) => {
        if (!known.has(key)) known.set(key, make(key));
        return known.get(key);
    };
};

const version = memo((text) => new rattler.Version(text));
const versionSpec = memo((text) => new rattler.VersionSpec(text, 'lenient'));

/// Literals of "starts with" clauses: 'a 1.1.1.*' takes 1.1.1w, as openssl's dependants need it and
/// conda and libsolv have it, though rattler does not (CEP 29).
const openEnded = memo((text) =>
    text
        .split(/[,|()]/)
        .map((clause) => /^={0,2}([^*<>=!~]+?)(?:\.?\*)+$/.exec(clause) ?? /^=([^=*]+)$/.exec(clause))
        .filter(Boolean)
        .map((found) => found[1]),
);
const versionMatches = (clause, text) =>
    versionSpec(clause).matches(version(text)) ||
    openEnded(clause).some((stem) => text.startsWith(stem) && /^[a-z]/.test(text.slice(stem.length)));

const textMatches = memo((pattern) => {
    if (/^\^.*\$$/.test(pattern)) {
        const regex = new RegExp(pattern, 'i');
        return (text) => regex.test(text);
    }
    if (!pattern.includes('*')) return (text) => text.toLowerCase() === pattern.toLowerCase();
    const escaped = pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '.*');
    const regex = new RegExp(`^${escaped}$`, 'is');
    return (text) => regex.test(text);
});

/// CEP 29 as far as channels and lock files use it: channel::, name, version, build, and the bracket keys
/// version, build, build_number.
const parseSpec = memo((whole) => {
    const [, before, brackets] = /^([^[]*)(?:\[(.*)\])?\s*$/.exec(whole.trim());
    const keys = {};
    for (const [, key, quoted, bare] of (brackets ?? '').matchAll(/(\w+)=(?:'([^']*)'|([^,]*)),?/g))
        keys[key] = quoted ?? bare;
    const unknown = Object.keys(keys).find((key) => !['version', 'build', 'build_number'].includes(key));
    if (unknown) throw new Error(`${whole}: this reader knows no [${unknown}=]`);
    const colons = before.lastIndexOf('::');
    const channel = colons < 0 ? undefined : before.slice(0, colons);
    const body = before.slice(colons < 0 ? 0 : colons + 2).trim();
    const [, name, rest] = /^([^ =<>!~]+)\s*(.*)$/.exec(body);
    const joined = /^={0,2}\s*([^=<>!~|, ]+)=([^= ]+)$/.exec(rest); // =version=build, version=build
    const parts = rest
        .replace(/([<>=!~,|])\s+/g, '$1')
        .replace(/\s+([,|])/g, '$1')
        .split(/\s+/);
    let [clause, build] = joined ? [/^\*$/.test(joined[1]) ? '*' : `==${joined[1]}`, joined[2]] : parts;
    if (keys.version !== undefined) clause = keys.version;
    if (keys.build !== undefined) build = keys.build;
    return {
        text: whole,
        channel,
        name: name.toLowerCase(),
        version: kNeverText.test(clause ?? '') ? undefined : clause,
        build: kNeverText.test(build ?? '') ? undefined : build,
        number: keys.build_number,
    };
});

const matches = (specText, record) => {
    const spec = parseSpec(specText);
    return (
        spec.name === record.name &&
        (spec.version === undefined || versionMatches(spec.version, record.version)) &&
        (spec.build === undefined || textMatches(spec.build)(record.build)) &&
        (spec.number === undefined || versionMatches(spec.number, String(record.build_number))) &&
        (spec.channel === undefined || spec.channel === record.channel)
    );
};

const asMilliseconds = (moment) => Math.trunc(moment < 253402300800 ? moment * 1000 : moment);

/// name -> records of a channel folder.
const readChannel = memo((folder) => {
    const byName = new Map();
    for (const subdir of kSubdirs) {
        const plain = join(folder, subdir, 'repodata.json');
        const packed = `${plain}.zst`;
        if (!existsSync(plain) && !existsSync(packed)) continue;
        const text = existsSync(packed)
            ? execFileSync('zstd', ['-dcq', packed], { maxBuffer: 1 << 30, encoding: 'utf8' })
            : readFileSync(plain, 'utf8');
        const repodata = JSON.parse(text);
        const conda = repodata['packages.conda'] ?? {};
        const add = (fn, record) => {
            if (!byName.has(record.name)) byName.set(record.name, []);
            byName.get(record.name).push({
                name: record.name,
                version: record.version,
                build: record.build,
                build_number: record.build_number ?? 0,
                depends: record.depends ?? [],
                constrains: record.constrains ?? [],
                tracked: (record.track_features ?? '').length > 0,
                timestamp: asMilliseconds(record.timestamp ?? 0),
                sha256: record.sha256 ?? '',
                channel: basename(folder),
                subdir,
                fn,
            });
        };
        for (const [fn, record] of Object.entries(conda)) add(fn, record);
        for (const [fn, record] of Object.entries(repodata.packages ?? {}))
            if (conda[fn.replace(/\.tar\.bz2$/, '.conda')] === undefined) add(fn, record);
    }
    return byName;
});

module.exports = { matches, parseSpec, readChannel, useRattler, version };
