// Rattler, from a node_modules folder. Its hash maps want the Web Crypto API, which node 18 keeps in a
// module of its own.
'use strict';

const { resolve } = require('node:path');

globalThis.crypto ??= require('node:crypto').webcrypto;

module.exports = (modules) => require(resolve(modules, '@conda-org/rattler/dist/rattler.node.cjs'));
