// How new versions are, so that versions of different names can be added up.
//
// The date of a version is the least timestamp of its builds and of builds of newer versions of the name,
// among the records that the request's specs on the name, channel priority and --exclude-newer leave.
// Pre-releases do not age releases.
'use strict';

const { matches, parseSpec, version } = require('./records.cjs');

const isPreRelease = (text) => /(?:\d|[._-])(?:a|alpha|b|beta|c|rc|pre)\d|dev/.test(text);

/// The dates of a name's versions, by version, for a request.
const datesOf = (world, name) => {
    const specs = world.question.specs.filter((spec) => parseSpec(spec).name === name);
    const records = world.candidates(name).filter((one) => specs.every((spec) => matches(spec, one)));
    const least = new Map();
    for (const { version: text, timestamp } of records)
        least.set(text, Math.min(least.get(text) ?? Infinity, timestamp || Infinity));
    const ascending = [...least.keys()].sort((a, b) => version(a).compare(version(b)));
    const dates = new Map();
    let [ofAny, ofReleases] = [Infinity, Infinity];
    for (const text of [...ascending].reverse()) {
        ofAny = Math.min(ofAny, least.get(text));
        if (!isPreRelease(text)) ofReleases = Math.min(ofReleases, least.get(text));
        dates.set(text, isPreRelease(text) ? ofAny : ofReleases);
    }
    // No version is older than a lower one, and one without timestamps is as old as the next lower one.
    let highest = 0;
    for (const text of ascending) {
        const date = dates.get(text);
        highest = Math.max(highest, Number.isFinite(date) ? date : 0);
        dates.set(text, highest);
    }
    return dates;
};

module.exports = { datesOf };
