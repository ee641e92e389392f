// rattler's solver behind one call. It reads channels over http and takes no virtual packages, so a
// loopback server offers the channel folders and, as one more channel, the machine. All of the machine
// is requested, else `constrains` on it would have nothing to speak of. Nor does it read CHANNEL::NAME
// or exclude newer records: the server leaves out the records that such a request cannot see.
'use strict';

const http = require('node:http');
const { execFileSync } = require('node:child_process');
const { createReadStream, existsSync, readFileSync } = require('node:fs');
const { basename, join } = require('node:path');
const loadRattler = require('./load_rattler.cjs');

const machineRepodata = (virtuals) => {
    const packages = {};
    for (const text of virtuals) {
        const [name, version, build = '0'] = text.split('=');
        const fn = `${name}-${version}-${build}.tar.bz2`;
        packages[fn] = { name, version, build, build_number: 0, depends: [], subdir: 'noarch', size: 0 };
    }
    return JSON.stringify({ info: { subdir: 'noarch' }, packages, repodata_version: 1 });
};

/// Some records have seconds.
const inMilliseconds = (moment) => (moment < 253402300800 ? moment * 1000 : moment);
const kChannelOfSpec = /^([\w.-]+)::/;

/// Which records are offered, as a function of channel name and record; undefined: all. The specs and the
/// date say it, and what the caller leaves out.
const selectionOf = (specs, excludeNewer = Infinity, isOffered) => {
    const channelOf = new Map();
    for (const spec of specs) {
        const channel = kChannelOfSpec.exec(spec)?.[1];
        if (channel) channelOf.set(/^[\w.-]+/.exec(spec.replace(kChannelOfSpec, ''))[0].toLowerCase(), channel);
    }
    if (channelOf.size === 0 && excludeNewer === Infinity && !isOffered) return undefined;
    return (channel, record) =>
        inMilliseconds(record.timestamp ?? 0) <= excludeNewer &&
        (channelOf.get(record.name) ?? channel) === channel &&
        (isOffered?.(record) ?? true);
};

/// The repodata of a folder without the records that are not selected.
const selectedRepodata = (folder, selected) => {
    const plain = join(folder, 'repodata.json');
    const text = existsSync(plain)
        ? readFileSync(plain, 'utf8')
        : execFileSync('zstd', ['-dcq', `${plain}.zst`], { maxBuffer: 1 << 30, encoding: 'utf8' });
    const repodata = JSON.parse(text);
    const channel = basename(join(folder, '..'));
    for (const part of ['packages', 'packages.conda'])
        for (const [fn, record] of Object.entries(repodata[part] ?? {}))
            if (!selected(channel, record)) delete repodata[part][fn];
    return JSON.stringify(repodata);
};

/// Starts the server; `folders` are all channels that will be asked of, but for URLs, which stay as they are.
const start = async (modules, folders) => {
    const { simpleSolve } = loadRattler(modules);
    const byName = new Map(folders.map((folder) => [basename(folder), folder]));
    let machine = '{}';
    let selection;
    const server = http.createServer((request, response) => {
        // The event loop stands still while gpkg answers, longer than connections are kept.
        response.setHeader('connection', 'close');
        const [channel, subdir, file] = request.url.split('/').slice(1);
        if (channel === 'machine' && subdir === 'noarch' && file === 'repodata.json') {
            response.end(machine);
            return;
        }
        const folder = byName.get(channel);
        if (folder && file === 'repodata.json' && !existsSync(join(folder, subdir))) {
            response.end('{}'); // rattler wants every subdir of a channel
        } else if (folder && selection && file === 'repodata.json') {
            response.end(selectedRepodata(join(folder, subdir), selection));
        } else if (
            folder &&
            !selection &&
            /^repodata\.json(\.zst)?$/.test(file ?? '') &&
            existsSync(join(folder, subdir, file))
        ) {
            createReadStream(join(folder, subdir, file), { highWaterMark: 1 << 20 }).pipe(response);
        } else {
            response.statusCode = 404;
            response.end();
        }
    });
    await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
    const base = `http://127.0.0.1:${server.address().port}`;

    return {
        /// { records: [{ name, version, build, subdir, fn, channel }], milliseconds } or { refusal }
        async solve({ folders: asked, virtuals = [], specs, excludeNewer, isOffered }) {
            machine = machineRepodata(virtuals);
            const url = (asked) => (asked.startsWith('http:') ? asked : `${base}/${basename(asked)}`);
            const channels = [...asked.map(url), `${base}/machine`];
            selection = selectionOf(specs, excludeNewer, isOffered);
            const wanted = [
                ...virtuals.map((text) => text.split('=')[0]),
                ...specs.map((spec) => spec.replace(kChannelOfSpec, '')),
            ];
            const begin = performance.now();
            try {
                const found = await simpleSolve(wanted, channels, ['linux-64', 'noarch'], []);
                const milliseconds = performance.now() - begin;
                const records = found
                    .filter((one) => !one.packageName.startsWith('__'))
                    .map((one) => {
                        const [channel, subdir] = new URL(one.url).pathname.split('/').slice(1);
                        return {
                            name: one.packageName,
                            version: one.version,
                            build: one.build,
                            channel,
                            subdir,
                            fn: one.filename,
                        };
                    });
                return { records, milliseconds };
            } catch (failure) {
                const milliseconds = performance.now() - begin;
                return { refusal: String(failure?.message ?? failure), milliseconds };
            }
        },
        stop: () => server.close(),
    };
};

module.exports = { start };
