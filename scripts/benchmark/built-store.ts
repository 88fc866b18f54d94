import { bundle } from '../build/bundle.ts'

// Loads the built store, because a worker thread of Node 20 cannot run TypeScript.
await bundle()

const built = new URL('../../dist/store.js', import.meta.url)
export const { openStore }: typeof import('../../src/store/open.ts') = await import(built.href)
