/** Preloaded with --require, makes process.versions.node 18.20.8; the APIs stay those of the running Node. */
Object.defineProperty(process.versions, 'node', { value: '18.20.8' })
