import { readdirSync } from 'node:fs'

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => `src/${file}`)

/** Every test may cover all of src, and src is what must be covered. */
export default () => sources
