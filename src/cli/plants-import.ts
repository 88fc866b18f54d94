import { open } from 'node:fs/promises'
import { addAbortSignal, type Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { UsageError } from 'fastify-contract/command-line'
import { openForWriting } from '../store/open.ts'
import type { CreateOutcome, PlantStore, StoredPlant } from '../store/plant-store.ts'
import { plantParser } from './plant-line.ts'
import { progressBar, type Terminal, writeText } from './terminal.ts'

/** The maximum number of plants, and of bytes of their lines, in a batch. */
const [batchLength, batchBytes] = [1_000, 2 ** 20]

/**
 * Creates the plant of each line and prints a summary. Resolves with the exit code. It also prints the summary when the
 * import is interrupted or fails: plants created by then stay, and the same import can be run again.
 */
export async function importPlants(
  path: string | undefined,
  { storeUrl, limit }: { storeUrl: string; limit: number },
  { stdin, stdout, stderr, interrupt }: Terminal,
): Promise<number> {
  if (path === undefined && 'isTTY' in stdin && stdin.isTTY) {
    throw new UsageError('missing FILE; expected a file, or lines on standard input')
  }
  const { input, fraction } = path === undefined ? { input: stdin, fraction: () => undefined } : await openFile(path)
  try {
    addAbortSignal(interrupt, input)
    const store = await openForWriting(storeUrl)
    const tally = newImportTally()
    const bar = progressBar(stderr)
    const create = async (plants: StoredPlant[]) => {
      await createBatch(plants, { store, tally, interrupt })
      bar.update(tally.plants(), fraction())
    }
    try {
      await createLines(input, { limit, tally, create, interrupt })
    } finally {
      bar.end()
      await writeText(stdout, tally.summary()).finally(() => store.close())
    }
    return tally.isComplete() ? 0 : 3
  } finally {
    input.destroy()
  }
}

/** Opens a file. `fraction` returns how much of it has been read, from 0 to 1, or undefined for a pipe. */
async function openFile(path: string): Promise<{ input: Readable; fraction(): number | undefined }> {
  const handle = await open(path)
  const status = await handle.stat()
  if (status.isDirectory()) {
    await handle.close()
    throw new Error(`${path} is a directory; name a file`)
  }
  const input = handle.createReadStream({ highWaterMark: 2 ** 18 })
  return { input, fraction: () => (status.isFile() ? input.bytesRead / status.size : undefined) }
}

type Importing = {
  limit: number
  tally: ImportTally
  create(plants: StoredPlant[]): Promise<void>
  interrupt: AbortSignal
}

/** Creates the plants of all lines in batches. Reads the next batch, but no further, while a batch is being created. */
async function createLines(input: Readable, { limit, tally, create, interrupt }: Importing): Promise<void> {
  const parse = plantParser()
  let batch: StoredPlant[] = []
  let size = 0
  let inFlight = Promise.resolve()
  const createNext = async () => {
    await inFlight
    interrupt.throwIfAborted()
    inFlight = create(batch)
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
          tally.addInvalid(number, parsed)
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

/**
 * The most attempts to create a plant while the store is unavailable, a second apart: a failover may take that long.
 */
const attempts = 30

type Creating = { store: Pick<PlantStore, 'create'>; tally: ImportTally; interrupt: AbortSignal }

/**
 * Creates plants concurrently and adds their outcomes to the tally. Rejects with the first error once every create is
 * settled.
 */
export async function createBatch(plants: StoredPlant[], { store, tally, interrupt }: Creating): Promise<void> {
  const creates = plants.map(async (plant) => {
    tally.add(plant.id, await createWithRetries(store, plant, interrupt))
  })
  await Promise.allSettled(creates)
  await Promise.all(creates)
}

async function createWithRetries(
  store: Pick<PlantStore, 'create'>,
  plant: StoredPlant,
  interrupt: AbortSignal,
  left = attempts,
): Promise<CreateOutcome> {
  try {
    return await store.create(plant)
  } catch (error) {
    const { retryAfter } = error as Error & { retryAfter?: number }
    if (retryAfter === undefined || left === 1 || interrupt.aborted) throw error
    await sleep(1_000 * retryAfter)
    return await createWithRetries(store, plant, interrupt, left - 1)
  }
}

/** Counts the outcomes of the lines of an import. */
export type ImportTally = {
  add(id: bigint, outcome: CreateOutcome): void
  addInvalid(line: number, reason: string): void
  /** Returns the number of plants that have an outcome. */
  plants(): number
  /** Returns whether the store now has the plant of every line. */
  isComplete(): boolean
  /** Returns a summary to print: the counts, the first ids in conflict and the first invalid lines. */
  summary(): string
}

/** The most ids in conflict, and the most invalid lines, in a summary. */
const listed = 10

/** Returns a tally of an import that has not begun. */
export function newImportTally(): ImportTally {
  const counts = { created: 0, identical: 0, conflict: 0 }
  const conflicts: bigint[] = []
  const reasons: string[] = []
  let invalid = 0
  const more = (count: number) => (count > listed ? `, and ${count - listed} more` : '')
  return {
    add(id, outcome) {
      counts[outcome]++
      if (outcome === 'conflict' && conflicts.length < listed) conflicts.push(id)
    },
    addInvalid(line, reason) {
      invalid++
      if (reasons.length < listed) reasons.push(`line ${line}: ${reason}\n`)
    },
    plants: () => counts.created + counts.identical + counts.conflict,
    isComplete: () => counts.conflict + invalid === 0,
    summary() {
      const { created, identical, conflict } = counts
      const ids = conflict === 0 ? '' : `ids in conflict: ${conflicts.join(', ')}${more(conflict)}\n`
      const rest = invalid > listed ? `and ${invalid - listed} more lines are invalid\n` : ''
      const numbers = `new: ${created}, identical: ${identical}, in conflict: ${conflict}, invalid lines: ${invalid}\n`
      return numbers + ids + reasons.join('') + rest
    },
  }
}

/** A line of a file with its number, counted from 1. `bytes` is undefined for a line above the limit. */
export type NumberedLine = { number: number; bytes: Buffer | undefined }

const lineFeed = 0x0a

/** Yields the lines completed by each chunk of a stream. `limit` is in bytes; no more of a line is held in memory. */
export async function* readLines(chunks: AsyncIterable<Buffer>, limit: number): AsyncGenerator<NumberedLine[]> {
  let number = 0
  let parts: Buffer[] = []
  let size = 0

  const add = (part: Buffer) => {
    size += part.length
    if (size <= limit) parts.push(part)
    else parts = []
  }
  const finishLine = (): NumberedLine => {
    const bytes = size > limit ? undefined : parts.length === 1 ? parts[0] : Buffer.concat(parts)
    parts = []
    size = 0
    return { number: ++number, bytes }
  }

  for await (const chunk of chunks) {
    const lines: NumberedLine[] = []
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      add(chunk.subarray(start, end))
      lines.push(finishLine())
      start = end + 1
    }
    if (start < chunk.length) add(chunk.subarray(start))
    yield lines
  }
  if (size > 0) yield [finishLine()]
}
