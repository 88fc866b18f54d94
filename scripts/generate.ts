/**
 * npm run generate [-- --check] [--document FILE] [--out DIRECTORY]
 *
 * Lints and bundles the document and writes from it what the server is built on: openapi.json and api.d.ts.
 * With --check nothing is written; exit 1 and the names of the files that differ when they are not up to date.
 */
import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import ts from 'typescript'
import { inexactIntegers } from './exact-integers.ts'

const { values: options } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    document: { type: 'string', default: 'openapi/plant-store.yaml' },
    out: { type: 'string', default: 'generated' },
  },
})

await main().catch((error: Error & { stdout?: string; stderr?: string }) => {
  console.error([error.stdout, error.stderr].filter(Boolean).join('\n') || error.message)
  process.exitCode = 1
})

async function main() {
  const [bundle] = await Promise.all([
    redocly('bundle', options.document, '--ext=json'),
    redocly('lint', options.document, '--format=stylish'),
  ])
  const document: OpenAPI3 = JSON.parse(bundle)
  const problems = inexactIntegers(document)
  if (problems.length > 0) throw new Error(`${options.document} cannot be served exactly:\n  ${problems.join('\n  ')}`)

  const files = {
    'openapi.json': `${JSON.stringify(document, null, 2)}\n`,
    'api.d.ts': `// Written by npm run generate from ${basename(options.document)}; edit that instead.\n${await types(document)}`,
  }
  const stale = []
  for (const [name, text] of Object.entries(files)) {
    const path = join(options.out, name)
    if ((await readFile(path, 'utf8').catch(() => undefined)) === text) continue
    stale.push(path)
    if (options.check) continue
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
  if (!options.check) console.log(stale.length > 0 ? `wrote ${stale.join(', ')}` : 'up to date')
  else if (stale.length > 0) throw new Error(`not up to date, run npm run generate: ${stale.join(', ')}`)
}

/** openapi-typescript's types, with int64 as bigint: a double does not hold every 64-bit integer. */
async function types(document: OpenAPI3): Promise<string> {
  const { factory, SyntaxKind } = ts
  const nodes = await openapiTS(document, {
    transform({ type, format }) {
      const types = [type].flat()
      if (format !== 'int64' || !types.includes('integer')) return undefined
      const bigint = factory.createKeywordTypeNode(SyntaxKind.BigIntKeyword)
      if (!types.includes('null')) return bigint
      return factory.createUnionTypeNode([bigint, factory.createLiteralTypeNode(factory.createNull())])
    },
  })
  return astToString(nodes)
}

async function redocly(...args: string[]): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const cli = join('node_modules', '@redocly', 'cli', 'bin', 'cli.js')
  return (await promisify(execFile)(process.execPath, [cli, ...args], { env, maxBuffer: 2 ** 28 })).stdout
}
