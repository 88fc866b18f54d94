/**
 * npm run benchmark:operations [-- ROUNDS]
 *
 * Documents of 1, 100 and 500 operations: milliseconds from the start of a process to an app that is ready, and its
 * memory then, of the operations bound as the service binds them and of glue alone, in turns. Prints medians and ratios.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { median, row } from './benchmark/table.ts'

const rounds = Number(process.argv[2] ?? 7)
const directory = await mkdtemp(join('node_modules', '.benchmark-'))

const read = `import Fastify from 'fastify'
  import { readFileSync } from 'node:fs'
  const document = JSON.parse(readFileSync(process.argv[2]))
  const ids = Object.values(document.paths).map(({ post }) => post.operationId)
  const handlers = Object.fromEntries(ids.map((id) => [id, async () => ({ status: 200, body: { name: 'a' } })]))
  const tell = () => console.log(process.memoryUsage.rss())`
const contenders = {
  'bound here': `${read}
    import { bind } from '../../src/contract/bind.ts'
    import { exitOptions } from '../../src/contract/exits.ts'
    const app = Fastify(exitOptions)
    await bind(app, { document, handlers, verifiers: {} })
    await app.ready()
    tell()`,
  'glue alone': `${read}
    import { fastifyOpenapiGlue } from 'fastify-openapi-glue'
    const app = Fastify()
    await app.register(fastifyOpenapiGlue, { specification: document, serviceHandlers: handlers })
    await app.ready()
    tell()`,
}

console.log(`Node ${process.versions.node}, medians of ${rounds} rounds`)
console.log(row(['operations', 'ready ms', 'glue ms', 'ratio', 'RSS MiB', 'glue MiB', 'ratio']))
try {
  for (const [name, contents] of Object.entries(contenders)) {
    const stdin = { contents, resolveDir: directory, loader: 'ts' } as const
    const outfile = join(directory, `${name}.mjs`)
    await build({ stdin, outfile, bundle: true, packages: 'external', platform: 'node', format: 'esm' })
  }
  for (const count of [1, 100, 500]) console.log(row(await measure(count)))
} finally {
  await rm(directory, { recursive: true })
}

async function measure(count: number): Promise<string[]> {
  const path = join(directory, `${count}.json`)
  await writeFile(path, JSON.stringify(documentOf(count)))
  const times: number[][] = [[], []]
  const memories: number[][] = [[], []]
  for (let round = 0; round < rounds; round++) {
    for (const [index, name] of Object.keys(contenders).entries()) {
      const start = performance.now()
      const { stdout } = await promisify(execFile)(process.execPath, [join(directory, `${name}.mjs`), path])
      times[index]?.push(performance.now() - start)
      memories[index]?.push(Number(stdout) / 2 ** 20)
    }
  }
  const compared = (figures: number[][]) => {
    const [ours = 0, glues = 0] = figures.map(median)
    return [ours.toFixed(0), glues.toFixed(0), (ours / glues).toFixed(2)]
  }
  return [String(count), ...compared(times), ...compared(memories)]
}

/** Each operation has schemas of its own, as those of a large service do. */
function documentOf(count: number): object {
  const numbers = Array.from({ length: count }, (_, n) => n)
  const text = { type: 'string', maxLength: 100 }
  const plant = { type: 'object', required: ['name'], properties: { name: text, tag: text } }
  const content = (name: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } })
  const operation = (n: number) => ({
    operationId: `create${n}`,
    requestBody: { required: true, content: content(`NewPlant${n}`) },
    responses: { 200: { description: 'ok', content: content(`Plant${n}`) } },
  })
  const identified = (n: number) => ({
    allOf: [
      { $ref: `#/components/schemas/Plant${n}` },
      { required: ['id'], properties: { id: { type: 'integer', format: 'int32' } } },
    ],
  })
  return {
    openapi: '3.1.0',
    info: { title: 'Plants', version: '1.0.0' },
    paths: Object.fromEntries(numbers.map((n) => [`/plants${n}`, { post: operation(n) }])),
    components: {
      schemas: Object.fromEntries(
        numbers.flatMap((n) => [
          [`Plant${n}`, plant],
          [`NewPlant${n}`, identified(n)],
        ]),
      ),
    },
  }
}
