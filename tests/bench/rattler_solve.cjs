// One solve by rattler, for solve_bench.py, which measures the whole process.
// usage: rattler_solve.cjs NODE_MODULES CHANNEL VIRTUAL,... SPEC...; prints the number of packages.
// CHANNEL is a folder, of which only repodata.json is offered, or a URL
'use strict';

const { start } = require('../witness/rattler_solver.cjs');

const [modules, folder, virtuals, ...specs] = process.argv.slice(2);
const main = async () => {
    const rattler = await start(modules, [folder]);
    const answer = await rattler.solve({ folders: [folder], virtuals: virtuals.split(','), specs });
    rattler.stop();
    if (answer.refusal) throw new Error(answer.refusal);
    console.log(answer.records.length);
};
main();
