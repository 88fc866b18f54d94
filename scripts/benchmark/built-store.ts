import { bundle } from '../build/bundle.ts'

// As it is deployed: a thread of Node 20 runs no TypeScript.
await bundle()

const built = new URL('../../dist/store.js', import.meta.url)
export const { openStore }: typeof import('../../src/store/open.ts') = await import(built.href)
