import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
const cache = new URL('../.tap/stripped/', import.meta.url)

/**
 * Loads a TypeScript file as JavaScript, with its types replaced by blanks (a module hook of Node). Loads packages without
 * the hooks of tap, which are for code whose coverage is measured and take a tenth of a second for 200 modules.
 */
export function load(url, context, nextLoad) {
  const shortCircuit = true
  // A query makes another copy of a module.
  if (/\.ts(?:\?|$)/.test(url)) {
    return { format: 'module', source: stripped(readFileSync(fileURLToPath(url), 'utf8')), shortCircuit }
  }
  // Only synchronous hooks see what is required, which has nothing to gain. Node 20 names no conditions for other hooks.
  if (context.conditions?.includes('require')) return nextLoad(url, context)
  if (!url.startsWith('file:') || !url.includes('/node_modules/')) return nextLoad(url, context)
  const { format } = context
  // Node would parse the 9 MB of the compiler, to find the format of a package without a type and the names of exports.
  if (url.endsWith('/typescript/lib/typescript.js') && format !== 'module') {
    const source =
      "import { createRequire } from 'node:module'\nexport default createRequire(import.meta.url)('typescript')"
    return { format: 'module', source, shortCircuit }
  }
  if (format === 'commonjs') return { format, source: null, shortCircuit }
  if (format === 'module') return { format, source: readFileSync(fileURLToPath(url)), shortCircuit }
  return nextLoad(url, context)
}

/** The compiler takes half a second to load, so stripped texts are cached for all processes and test runs. */
function stripped(text) {
  const file = new URL(`${createHash('sha1').update(text).digest('hex')}.js`, cache)
  try {
    return readFileSync(file, 'utf8')
  } catch {
    const { default: stripTypes } = require('ts-blank-space')
    const source = stripTypes(text)
    mkdirSync(cache, { recursive: true })
    // Writes to another name first: a parallel process must not read half a file.
    const part = new URL(`${file.href}-${process.pid}`)
    writeFileSync(part, source)
    renameSync(part, file)
    return source
  }
}
