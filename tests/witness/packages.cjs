// Packages that gpkg builds, both formats, and the channel that it makes of them, read by rattler.
// usage: packages.cjs NODE_MODULES GPKG
//   (a) what info/index.json says is a record to rattler, which writes the same fields back;
//   (b) rattler solves with the channel over HTTP, and takes the newest with what it needs, by the
//       sums of the archives.
'use strict';

const { execFileSync } = require('node:child_process');
const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } = require('node:fs');
const http = require('node:http');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { deepStrictEqual } = require('node:assert');
const loadRattler = require('./load_rattler.cjs');

const [modules, gpkg] = process.argv.slice(2);
const { PackageRecord, simpleSolve } = loadRattler(modules);

const kRecipes = {
    base: `package: {name: base, version: "1.10"}
build: {number: 3, script: 'mkdir $PREFIX/lib; echo $PREFIX > $PREFIX/lib/base; ln -s base $PREFIX/lib/link'}
about: {license: MIT, license_family: MIT, summary: the base}`,
    older: `package: {name: base, version: "1.9"}
build: {script: 'echo older > $PREFIX/base'}`,
    pure: `package: {name: pure, version: "2.0rc1"}
build:
  noarch: python
  python: {entry_points: [pure = pure:main]}
  script: ['mkdir -p $PREFIX/site-packages', 'echo "def main(): pass" > $PREFIX/site-packages/pure.py']
requirements: {run: [base >=1.5], run_constraints: [other <2]}`,
    data: `package: {name: data, version: "0"}
build: {noarch: generic, script: 'mkdir -p $PREFIX/empty/folder'}`,
};

const work = mkdtempSync(join(tmpdir(), 'gpkg-packages-'));
const channel = join(work, 'channel');
const kTime = 1700000000;

const build = () => {
    for (const [name, text] of Object.entries(kRecipes)) {
        mkdirSync(join(work, 'r', name), { recursive: true });
        writeFileSync(join(work, 'r', name, 'recipe.yaml'), text);
    }
    const env = { PATH: process.env.PATH, HOME: work, GPKG_ROOT_PREFIX: join(work, 'root'), SOURCE_DATE_EPOCH: `${kTime}` };
    const run = (...words) =>
        execFileSync(gpkg, ['build', join(work, 'r'), '--output-dir', ...words], { env, stdio: 'pipe' });
    run(channel);
    run(join(work, 'old'), '--package-format', 'tar-bz2');
};

const packagesIn = (folder) =>
    ['linux-64', 'noarch'].flatMap((subdir) =>
        readdirSync(join(folder, subdir))
            .filter((name) => /\.(conda|tar\.bz2)$/.test(name))
            .map((name) => join(folder, subdir, name)),
    );

/// info/index.json, by the tools that every system has.
const indexOf = (file) => {
    const tar = (words, input) => execFileSync('tar', [...words, '-xOf', '-', 'info/index.json'], { input });
    if (file.endsWith('.tar.bz2')) return JSON.parse(tar(['--bzip2'], readFileSync(file)));
    const list = execFileSync('python3', ['-c', `
import sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
name = next(name for name in archive.namelist() if name.startswith("info-"))
sys.stdout.buffer.write(archive.read(name))`, file]);
    return JSON.parse(tar(['--zstd'], list));
};

/// (a)
const checkRecords = () => {
    const files = [...packagesIn(channel), ...packagesIn(join(work, 'old'))];
    if (files.length !== 2 * Object.keys(kRecipes).length) throw new Error(`there are ${files.length} packages`);
    for (const file of files) {
        const index = indexOf(file);
        const record = new PackageRecord(index);
        const said = {
            name: record.name,
            version: record.toJson().version,
            build: record.build,
            build_number: record.buildNumber,
            depends: record.depends,
            constrains: record.constrains,
            subdir: record.subdir,
            license: record.license,
            license_family: record.licenseFamily,
            timestamp: record.timestamp.getTime(),
        };
        for (const [key, value] of Object.entries(said)) deepStrictEqual(value, index[key], `${file}: ${key}`);
        deepStrictEqual(index.timestamp, kTime * 1000);
        deepStrictEqual(record.toJson().noarch, index.noarch, `${file}: noarch`);
    }
    console.log(`${files.length} records read`);
};

/// (b)
const checkSolve = async (address) => {
    const found = await simpleSolve(['pure', 'data'], [`${address}/channel`], ['linux-64', 'noarch'], []);
    const names = found.map((one) => `${one.packageName} ${one.version} ${one.subdir}`).sort();
    deepStrictEqual(names, ['base 1.10 linux-64', 'data 0 noarch', 'pure 2.0rc1 noarch']);
    for (const one of found) {
        const bytes = readFileSync(join(channel, one.subdir, one.filename));
        deepStrictEqual(one.sha256, createHash('sha256').update(bytes).digest('hex'), one.filename);
        deepStrictEqual(Number(one.size), bytes.length, one.filename);
    }
    console.log('solved');
};

const serve = (answer) =>
    new Promise((done, failed) => {
        const server = http.createServer((request, response) => {
            const file = join(work, decodeURIComponent(request.url));
            const is = existsSync(file) && statSync(file).isFile();
            response.statusCode = is ? 200 : 404;
            response.end(is ? readFileSync(file) : '');
        });
        server.listen(0, '127.0.0.1', () =>
            answer(`http://127.0.0.1:${server.address().port}`).then(done, failed).finally(() => server.close()),
        );
    });

(async () => {
    try {
        build();
        checkRecords();
        await serve(checkSolve);
    } catch (error) {
        console.log('FAILED:', error);
        process.exitCode = 1;
    } finally {
        rmSync(work, { recursive: true });
    }
})();
