/** Preload (--require) that sets process.versions.node to 18.20.8; the APIs stay those of the running Node. */
Object.defineProperty(process.versions, 'node', { value: '18.20.8' })
