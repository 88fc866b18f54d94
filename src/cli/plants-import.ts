import { open } from 'node:fs/promises'
import { addAbortSignal, type Readable } from 'node:stream'
import { UsageError } from '../../packages/fastify-contract/src/cli/cli-options.ts'
import type { StoredPlant } from '../store/plant-store.ts'
import { type ImportTally, newImportTally } from './import-tally.ts'
import { createBatch } from './plant-batch.ts'
import { plantParser, writeText } from './plant-line.ts'
import type { PlantsCall } from './plants-call.ts'
import { withStore } from './plants-store.ts'
import { progressBar } from './progress-bar.ts'
import { readLines } from './read-lines.ts'

/** The maximum number of plants, and of bytes of their lines, in a batch. */
const [batchLength, batchBytes] = [1_000, 2 ** 20]

/**
 * Creates the plant of each line and prints a summary. Resolves with the exit code. It also prints the summary when the
 * import is interrupted or fails: plants created by then stay, and the same import can be run again.
 */
export async function importPlants({ operand, storeUrl, limit, terminal }: PlantsCall): Promise<number> {
  const { stdin, stdout, stderr, interrupt } = terminal
  if (operand === undefined && 'isTTY' in stdin && stdin.isTTY) {
    throw new UsageError('FILE is missing, allowed: a file, or lines on standard input')
  }
  const { input, fraction } =
    operand === undefined ? { input: stdin, fraction: () => undefined } : await openFile(operand)
  addAbortSignal(interrupt, input)
  const tally = newImportTally()
  const bar = progressBar(stderr)
  return await withStore(storeUrl, async (store) => {
    const create = async (plants: StoredPlant[]) => {
      await createBatch(plants, { store, tally, interrupt })
      bar.update(tally.plants(), fraction())
    }
    try {
      await createLines(input, { limit, tally, create, interrupt })
    } finally {
      bar.end()
      await writeText(stdout, tally.summary())
    }
    return tally.isComplete() ? 0 : 3
  }).finally(() => input.destroy())
}

/** Opens a file. `fraction` returns how much of it has been read, from 0 to 1, or undefined for a pipe. */
async function openFile(path: string): Promise<{ input: Readable; fraction(): number | undefined }> {
  const handle = await open(path)
  const status = await handle.stat()
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
          tally.addWrong(number, parsed)
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
