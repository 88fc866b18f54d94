import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const cache = new URL('../../.tap/stripped/', import.meta.url)

/** Loads a TypeScript file as JavaScript, with its types replaced by blanks (a module hook of Node). */
export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context)
  return { format: 'module', source: await stripped(readFileSync(fileURLToPath(url), 'utf8')), shortCircuit: true }
}

/** The compiler takes half a second to load, so stripped texts are cached for all processes and test runs. */
async function stripped(text) {
  const file = new URL(`${createHash('sha1').update(text).digest('hex')}.js`, cache)
  try {
    return readFileSync(file, 'utf8')
  } catch {
    const { default: stripTypes } = await import('ts-blank-space')
    const source = stripTypes(text)
    mkdirSync(cache, { recursive: true })
    // Writes to another name first: a parallel process must not read half a file.
    const part = new URL(`${file.href}-${process.pid}`)
    writeFileSync(part, source)
    renameSync(part, file)
    return source
  }
}
