// The releases of CUDA that a record goes with, read a second time from what records say, and which of
// them suits a driver best. Shares no code with gpkg. What a record says of CUDA, the first that says
// something:
//   1  its dependency on a package that has the toolkit's version
//   2  its build string: cuda126, cu121, cuda13
//   3  its name and own version, where it is the toolkit or a part of it
'use strict';

const { matches, parseSpec, version } = require('./records.cjs');

const kMajors = Array.from({ length: 13 }, (_, i) => i + 7);
const kMinors = Array.from({ length: 30 }, (_, i) => i);
const kBuild = /(?:^|_)(?:cuda|cu)(\d+)(?:\.(\d+))?(?=_|py|$)/;
const kStands = ['cuda-version', 'cudatoolkit', 'cuda-toolkit', 'cuda', 'pytorch-cuda'];
// Parts with versions of their own: from a version on, of this major version of CUDA.
const kNumbered = new Map([
    ['libcufft', [['10.1', 11], ['11', 12], ['12', 13]]],
    ['libcufile', [['1.0', 11], ['1.5', 12], ['1.15', 13]]],
    ['libcurand', [['10.2.1', 11], ['10.3.1', 12], ['10.4', 13]]],
    ['libcusolver', [['10.5', 11], ['11.4.2', 12], ['12', 13]]],
    ['libcusparse', [['11', 11], ['12', 12], ['12.6', 13]]],
]);
const kNumberedAlike = /^(?:libcublas|libnpp|libnvjpeg|libnvjitlink|libnvfatbin|libnvvm-samples)$/;
const kNotParts = /^cuda-(?:core|pathfinder|compat|tile|nsight)/;

/// Of releases 100 * major + minor those that `takes` takes.
const releases = (takes) =>
    new Set(kMajors.flatMap((major) => kMinors.filter((m) => takes(major, m)).map((m) => 100 * major + m)));
const wholeMajor = (wanted) => releases((major) => major === wanted);
/// What is made with a release runs with later ones of its major version, from 11 on.
const from = (wanted, least) =>
    releases((major, minor) => major === wanted && (wanted < 11 ? minor === least : minor >= least));

const numbers = (text) => text.replace(/^\d+!/, '').split('.').map((part) => parseInt(part, 10) || 0);

const ofDependency = (text) => {
    if (!/^(?:cuda|pytorch-cuda)/.test(text)) return undefined;
    const spec = parseSpec(text);
    if (!kStands.includes(spec.name) || spec.version === undefined) return undefined;
    const takes = (number) => matches(`${spec.name} ${spec.version}`, { name: spec.name, version: number });
    const taken = releases((major, minor) => takes(`${major}.${minor}`) || takes(`${major}.${minor}.999`));
    // pytorch-cuda 12.1 stands beside parts of 12.5.
    if (spec.name !== 'pytorch-cuda') return taken;
    const majors = new Set([...taken].map((release) => Math.trunc(release / 100)));
    return releases((major) => majors.has(major));
};

const ofBuild = ({ name, build }) => {
    const found = name === 'faiss-cpu' ? undefined : kBuild.exec(build); // it has those of faiss-gpu
    if (!found || found[1].startsWith('0')) return undefined;
    const [, digits, minor] = found;
    if (minor !== undefined) return from(Number(digits), Number(minor));
    if (digits.length === 1) return wholeMajor(Number(digits));
    const cut = digits.startsWith('1') ? 2 : 1;
    if (digits.length === cut) return wholeMajor(Number(digits));
    return from(Number(digits.slice(0, cut)), Number(digits.slice(cut)));
};

const ofPart = (record) => {
    const [major, minor = 0] = numbers(record.version);
    const name = record.name.replace(/-(?:dev|static)$/, '');
    if (name === 'pytorch-cuda') return wholeMajor(major);
    if (name === 'cuda-version' || name === 'cudatoolkit') return new Set([100 * major + minor]);
    if (kNumberedAlike.test(name)) return wholeMajor(major);
    if (kNumbered.has(name)) {
        const isReached = ([least]) => version(least).compare(version(record.version)) <= 0;
        const row = kNumbered.get(name).findLast(isReached);
        return row && wholeMajor(row[1]);
    }
    return /^cuda(?:-|$)/.test(name) && !kNotParts.test(name) && kMajors.includes(major)
        ? from(major, minor)
        : undefined;
};

const known = new WeakMap();
/// The releases that a record goes with; undefined of one that says nothing of CUDA.
const toolkitOf = (record) => {
    if (!known.has(record)) {
        const said = (record.depends ?? []).map(ofDependency).find((one) => one !== undefined);
        known.set(record, said ?? ofBuild(record) ?? ofPart(record));
    }
    return known.get(record);
};

/// The releases that all of an environment goes with; undefined where nothing says anything of CUDA.
const commonToolkits = (records) =>
    records
        .map(toolkitOf)
        .filter((one) => one !== undefined)
        .reduce((common, one) => (common ? new Set([...common].filter((x) => one.has(x))) : one), undefined);

/// How well a release suits a driver, the least best: of its major version, not beyond it, and the newest;
/// then just beyond; then of earlier major versions; then of later ones. Without a driver the newest.
const fit = (release, driver) => {
    if (driver === undefined) return [0, -release];
    const order = Math.sign(Math.trunc(release / 100) - Math.trunc(driver / 100));
    const far = Math.abs(release - driver);
    return [order < 0 ? 2 : order > 0 ? 3 : release <= driver ? 0 : 1, far];
};
const compareFits = (a, b) => a[0] - b[0] || a[1] - b[1];
const kBeyondDriver = 3;

/// 1208 of __cuda 12.8.
const driverOf = (virtuals) => {
    const cuda = virtuals.find((one) => one.name === '__cuda');
    const [major, minor = 0] = cuda ? numbers(cuda.version) : [];
    return major && 100 * major + minor;
};

/// What a person requests as a part of the toolkit and not for itself.
const isToolkitPart = (name) =>
    [...kStands, 'cudnn', 'nccl'].includes(name) ||
    /^cuda-|^libcu(?:blas|dnn|fft|file|rand|solver|sparse|dss)|^libnv(?:jitlink|jpeg|fatbin|vm|ptx)|^libnpp/.test(name);

const textOf = (release) => `${Math.trunc(release / 100)}.${release % 100}`;

module.exports = {
    commonToolkits, compareFits, driverOf, fit, isToolkitPart, kBeyondDriver, textOf, toolkitOf,
};
