import { open } from 'node:fs/promises'
import { addAbortSignal, type Readable, type Writable } from 'node:stream'
import { readLines } from 'fastify-contract'
import { parseOptions, UsageError } from 'fastify-contract/token-command'
import { rethrowWithUrl, storeConfig } from '../config.ts'
import { openAtomicFile } from '../store/atomic-file.ts'
import { openForReading, openStore } from '../store/open.ts'
import type { CreateOutcome, PlantReader, PlantStore, StoredPlant } from '../store/plant-store.ts'
import { formatPlantLine, plantParser } from './plant-line.ts'

export const plantsHelp = `plant-store plants export [FILE]
plant-store plants import [FILE]

These commands read or write the plants of STORE_URL.
A plant is a line of JSON, like a body of POST /plants: {"id":1,"name":"Monstera deliciosa","tag":"indoor"}

export    writes all plants to a new file that then replaces FILE, or to standard output
import    creates the plant of each line of FILE, or of standard input, and leaves existing plants unchanged, so that an
          import can be repeated. It prints how many plants are new, identical or in conflict, and on standard
          error each invalid line and each id in conflict. Stop a service that uses the same SQLite file

On SIGINT or SIGTERM an import ends after the plants that are being created, and an export leaves FILE unchanged.

Exit codes: 0 done; 1 failed; 2 usage error; 3 some lines are invalid or in conflict; 130 interrupted
`

const commands = { export: exportPlants, import: importPlants }

/**
 * Runs `plant-store plants` with its arguments. Resolves with the exit code. Rejects with a UsageError, or with one
 * line that says what failed.
 */
export async function plants(
  [name, ...args]: string[],
  { STORE_URL, BODY_LIMIT }: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  if (name === undefined) {
    terminal.stderr.write(plantsHelp)
    return 2
  }
  const isHelp = name === '--help' || name === '-h'
  if (!isHelp && !Object.hasOwn(commands, name)) {
    throw new UsageError(`plants: unknown command '${name}'; expected ${Object.keys(commands).join(' or ')}`)
  }
  const { help, operand } = parseOptions(isHelp ? ['--help'] : args, [], 'FILE')
  if (help) {
    terminal.stdout.write(plantsHelp)
    return 0
  }
  const config = storeConfig({ STORE_URL, BODY_LIMIT })
  // Each write reports its own failure, so this event needs no other handler.
  terminal.stdout.on('error', () => {})
  try {
    return await commands[name as keyof typeof commands](operand, config, terminal)
  } catch (error) {
    const { name, code } = error as NodeJS.ErrnoException
    // The reader of the output has closed the pipe.
    if (code === 'EPIPE') return 1
    if (name !== 'AbortError') throw error
    terminal.stderr.write('plant-store: interrupted\n')
    return 130
  }
}

/** The streams of a command, and the signal that interrupts it. */
export type Terminal = { stdin: Readable; stdout: Writable; stderr: Writable; interrupt: AbortSignal }

/** Writes a text. Resolves once the stream has written it, and rejects when the write fails. */
const writeText = (stream: Writable, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()))
  })

const [least, greatest] = [-(2n ** 63n), 2n ** 63n - 1n]

/** The most plants of one query: 64 MiB in memory with the default BODY_LIMIT. */
const pageLength = 256

/**
 * Writes all plants to a file, which gets its name when it is complete and synced, or to standard output. Resolves with
 * the exit code.
 */
async function exportPlants(
  path: string | undefined,
  { storeUrl }: { storeUrl: string },
  { stdout, interrupt }: Terminal,
): Promise<number> {
  const reader = await openForReading(storeUrl).catch(rethrowWithUrl(storeUrl))
  let plants = 0
  const writePlants = async (write: (text: string) => Promise<void>) => {
    for await (const page of pagesOf(reader, interrupt)) {
      await write(page.map(formatPlantLine).join(''))
      plants += page.length
    }
  }
  try {
    if (path === undefined) {
      await writePlants((text) => writeText(stdout, text))
      return 0
    }
    const file = await openAtomicFile(path)
    await writePlants(file.write).then(file.finish).finally(file.close)
    await writeText(stdout, `${plants} plants are in ${path}\n`)
    return 0
  } finally {
    await reader.close()
  }
}

/**
 * Yields all plants in the order of their ids, in pages of bounded size. Throws an AbortError when `interrupt` is
 * aborted.
 */
export async function* pagesOf(reader: PlantReader, interrupt: AbortSignal): AsyncGenerator<StoredPlant[]> {
  for (let next = least; next <= greatest; ) {
    interrupt.throwIfAborted()
    const page = await reader.list(next, pageLength)
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    next = last.id + 1n
  }
}

/** The maximum number of plants, and of bytes of their lines, in a batch. */
const [batchLength, batchBytes] = [1_000, 2 ** 20]

/**
 * Creates the plant of each line and prints a summary. Resolves with the exit code. It also prints the summary when the
 * import is interrupted or fails: plants created by then stay, and the same import can be run again.
 */
async function importPlants(
  path: string | undefined,
  { storeUrl, limit }: { storeUrl: string; limit: number },
  { stdin, stdout, stderr, interrupt }: Terminal,
): Promise<number> {
  if (path === undefined && 'isTTY' in stdin && stdin.isTTY) {
    throw new UsageError('missing FILE; expected a file, or lines on standard input')
  }
  if (storeUrl === 'memory:') throw new Error('STORE_URL is "memory:", which keeps no plants; name another store')
  const input = path === undefined ? stdin : await openFile(path)
  try {
    addAbortSignal(interrupt, input)
    const store = await openStore(storeUrl).catch(rethrowWithUrl(storeUrl))
    const counts = { created: 0, identical: 0, conflict: 0, invalid: 0 }
    const report = (problem: string) => void stderr.write(`${problem}\n`)
    try {
      await createLines(input, { limit, store, counts, report, interrupt })
    } finally {
      const { created, identical, conflict, invalid } = counts
      const text = `new: ${created}, identical: ${identical}, in conflict: ${conflict}, invalid lines: ${invalid}\n`
      await writeText(stdout, text).finally(() => store.close())
    }
    return counts.conflict + counts.invalid === 0 ? 0 : 3
  } finally {
    input.destroy()
  }
}

async function openFile(path: string): Promise<Readable> {
  const handle = await open(path)
  if ((await handle.stat()).isDirectory()) {
    await handle.close()
    throw new Error(`${path} is a directory; name a file`)
  }
  return handle.createReadStream({ highWaterMark: 2 ** 18 })
}

type Import = {
  /** The most bytes of a line. */
  limit: number
  store: Pick<PlantStore, 'create'>
  counts: Record<CreateOutcome | 'invalid', number>
  /** Prints a line about a plant that was not created. */
  report(problem: string): void
  interrupt: AbortSignal
}

/** Creates the plants of all lines in batches. Reads the next batch, but no further, while a batch is being created. */
async function createLines(input: Readable, options: Import): Promise<void> {
  const { limit, counts, report, interrupt } = options
  const parse = plantParser()
  let batch: StoredPlant[] = []
  let size = 0
  let inFlight = Promise.resolve()
  const createNext = async () => {
    await inFlight
    interrupt.throwIfAborted()
    inFlight = createBatch(batch, options)
    // The next await of this promise reports its error. Without a handler until then, Node would end the process.
    inFlight.catch(() => {})
    batch = []
    size = 0
  }
  try {
    for await (const lines of readLines(input, limit)) {
      for (const { number, bytes } of lines) {
        if (bytes?.every(isSpace)) continue
        const parsed = bytes === undefined ? `more than ${limit} bytes` : parse(bytes)
        if (typeof parsed === 'string') {
          counts.invalid++
          report(`line ${number}: ${parsed}`)
          continue
        }
        batch.push(parsed)
        size += (bytes as Buffer).length
        if (batch.length === batchLength || size >= batchBytes) await createNext()
      }
    }
    await createNext()
  } finally {
    await inFlight
  }
}

/** Returns whether a byte is JSON white space other than a line feed (RFC 8259 section 2). */
const isSpace = (byte: number) => byte === 0x20 || byte === 0x0d || byte === 0x09

/** Creates plants concurrently and counts their outcomes. Rejects with the first error once every write is settled. */
export async function createBatch(plants: StoredPlant[], { store, counts, report }: Import): Promise<void> {
  const creates = plants.map(async function createOne(plant) {
    const outcome = await store.create(plant)
    counts[outcome]++
    if (outcome === 'conflict') report(`id ${plant.id}: the store has another plant`)
  })
  await Promise.allSettled(creates)
  await Promise.all(creates)
}
