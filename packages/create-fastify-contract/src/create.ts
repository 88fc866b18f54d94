#!/usr/bin/env node
// Runs `fastify-contract init --install` with the arguments of `npm create fastify-contract`.
process.argv.splice(2, 0, 'init', '--install')
await import('fastify-contract-cli/command')
