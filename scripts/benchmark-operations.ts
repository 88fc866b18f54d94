import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { promisify } from 'node:util'
import { type BuildOptions, build } from 'esbuild'
import { commandLine } from '../packages/fastify-contract/src/cli/command-line.ts'
import { normalizedDocument } from '../packages/fastify-contract/src/compile/document/normalize.ts'
import { routesOf } from '../packages/fastify-contract/src/compile/emit/route-schemas.ts'
import { printGenerationTimes } from './benchmark/generation-time.ts'
import { documentOf, peerSources, serviceSources } from './benchmark/operations.ts'
import { directory as installed, preparePeers } from './benchmark/peers.ts'
import { median, medianRatio, shuffled } from './benchmark/statistics.ts'
import { table } from './benchmark/text-table.ts'
import { serverBundle } from './build/bundle.ts'

const { options } = commandLine(
  `npm run benchmark:operations [-- --rounds 7] [--generation]

Measures servers of documents with 1, 100 and 500 operations: the time from the start of the process to its first
response, in milliseconds, and its resident memory at that moment. Compares this service's route registration with other
ways to serve the document and with as many handwritten Fastify routes, which are the reference. A server that compiles
validators lazily has compiled one by then. Measures all servers in turns; prints medians and ratios.

With --generation, measures instead the CPU of generating documents of 100, 1,000 and 10,000 schemas in several shapes.
`,
  { rounds: 7, generation: false },
)
const { rounds } = options
if (options.generation) {
  await printGenerationTimes(rounds)
  process.exit()
}
await preparePeers()
const directories = await Promise.all([
  mkdtemp(join(installed, 'dist', 'benchmark-')),
  mkdtemp(join('node_modules', '.benchmark-')),
])
const [ofPeers, own] = directories
const installedPackages = { bundle: true, packages: 'external', platform: 'node', format: 'esm' } as const

type Figures = { time: number; memory: number }

try {
  const files = new Map([
    ...(await buildAll(peerSources, ofPeers, installedPackages)),
    ...(await buildAll(serviceSources, own, serverBundle)),
  ])
  console.log(`Node ${process.versions.node}, medians of ${rounds} rounds`)
  const lines: string[][] = []
  for (const count of [1, 100, 500]) lines.push(...(await measure(files, count)))
  console.log(table([['operations', '', 'ms', 'to Fastify', 'RSS MiB', 'to Fastify'], ...lines]))
} finally {
  await Promise.all(directories.map((directory) => rm(directory, { recursive: true })))
}

/** Bundles each source into a directory. Returns the name and the path of each bundle. */
async function buildAll(
  sources: Record<string, string>,
  directory: string,
  options: BuildOptions,
): Promise<[string, string][]> {
  const built = Object.entries(sources).map(async ([name, contents]): Promise<[string, string]> => {
    const stdin = { contents, resolveDir: directory, loader: 'ts' } as const
    const outfile = join(directory, `${name}.mjs`)
    await build({ ...options, stdin, outfile })
    return [name, outfile]
  })
  return await Promise.all(built)
}

async function measure(files: Map<string, string>, count: number): Promise<string[][]> {
  const document = join(own, `${count}.json`)
  await writeFile(document, JSON.stringify(documentOf(count)))
  await writeFile(join(own, `${count}.routes.json`), JSON.stringify(routesOf(normalizedDocument(documentOf(count)))))
  const figures = new Map(Array.from(files, ([name]) => [name, [] as Figures[]]))
  for (let round = 0; round < rounds; round++) {
    for (const [name, file] of shuffled([...files])) {
      const start = performance.now()
      const { stdout } = await promisify(execFile)(process.execPath, [file, document])
      figures.get(name)?.push({ time: performance.now() - start, memory: Number(stdout) })
    }
  }
  const reference = figures.get('Fastify by hand') as Figures[]
  return Array.from(figures, ([name, each]) => {
    const cells = (figure: keyof Figures, unit: number) => {
      const of = (rounds: Figures[]) => rounds.map((round) => round[figure])
      return [(median(of(each)) / unit).toFixed(0), medianRatio(of(each), of(reference)).toFixed(2)]
    }
    return [String(count), name, ...cells('time', 1), ...cells('memory', 2 ** 20)]
  })
}
