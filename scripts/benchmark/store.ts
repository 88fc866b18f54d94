import { bundle } from '../bundle.ts'

// As it is deployed: a thread of Node 20 runs no TypeScript.
await bundle()

export const { openStore } = await import('plant-store/store')
