// The program itself asked for solutions, away from the user's settings and from this machine's driver.
'use strict';

const { execFile, spawnSync } = require('node:child_process');
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const overrideOf = { __cuda: 'CUDA', __glibc: 'GLIBC', __linux: 'LINUX', __archspec: 'ARCHSPEC' };

const environment = (root, virtuals) => {
    const kept = Object.entries(process.env).filter(([key]) => !/^(CONDA_|GPKG_|MAMBA_)/.test(key));
    const overrides = { CONDA_OVERRIDE_CUDA: '' };
    for (const text of virtuals) {
        const [name, version, build] = text.split('=');
        if (overrideOf[name])
            overrides[`CONDA_OVERRIDE_${overrideOf[name]}`] = name === '__archspec' ? build : version;
    }
    return {
        ...Object.fromEntries(kept),
        ...overrides,
        HOME: root,
        GPKG_ROOT_PREFIX: root,
        CONDA_SUBDIR: 'linux-64',
    };
};

/// { records } of `gpkg create --dry-run --json`, or { refusal }.
const dryRun = (program, { folders, virtuals, specs }) => {
    const root = mkdtempSync(join(tmpdir(), 'gpkg-witness.'));
    try {
        const channels = folders.flatMap((folder) => ['-c', folder]);
        const words = [
            'create',
            '--dry-run',
            '--json',
            '-n',
            'x',
            ...channels,
            '--override-channels',
            ...specs,
        ];
        const { status, stdout } = spawnSync(program, words, {
            env: environment(root, virtuals),
            maxBuffer: 1 << 28,
            encoding: 'utf8',
        });
        const reply = JSON.parse(stdout);
        if ((status === 0) !== (reply.success === true)) throw new Error(`exit status ${status}, ${stdout}`);
        return reply.success ? { records: reply.actions.LINK } : { refusal: reply.message ?? reply.error };
    } finally {
        rmSync(root, { recursive: true });
    }
};

/// `gpkg solve --json` asked many times with one cache of indexes.
const startGpkg = (program) => {
    const root = mkdtempSync(join(tmpdir(), 'gpkg-witness.'));
    return {
        /// { records } or { refusal }
        solve: ({ folders, virtuals, specs, excludeNewer }) =>
            new Promise((resolve, reject) => {
                const words = [
                    ...['solve', '--json', '--override-channels', ...folders.flatMap((one) => ['-c', one])],
                    ...(excludeNewer === undefined ? [] : ['--exclude-newer', String(excludeNewer)]),
                    ...specs,
                ];
                const options = { env: environment(root, virtuals), maxBuffer: 1 << 28, timeout: 120000 };
                execFile(program, words, options, (failure, stdout) => {
                    try {
                        const reply = JSON.parse(stdout);
                        resolve(reply.success ? { records: reply.packages } : { refusal: reply.message ?? reply.error });
                    } catch {
                        reject(new Error(`gpkg ${words.join(' ')}: ${failure ?? 'no JSON'}`));
                    }
                });
            }),
        stop: () => rmSync(root, { recursive: true }),
    };
};

module.exports = { dryRun, startGpkg };
