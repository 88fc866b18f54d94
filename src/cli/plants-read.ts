import { UsageError } from '../../packages/fastify-contract/src/cli/cli-options.ts'
import type { PlantReader, StoredPlant } from '../store/plant-store.ts'
import { formatPlantLine, writeText } from './plant-line.ts'
import { withReader } from './plants-store.ts'
import type { PlantsCall } from './terminal.ts'

const [least, greatest] = [-(2n ** 63n), 2n ** 63n - 1n]
/** The most plants of one query, and the most ids of one count. A server may cancel queries that take seconds. */
const [pageLength, countLength] = [1_000, 100_000]

/** Prints the plants from an id on, up to a limit. Resolves with the exit code. */
export async function listPlants({ given, storeUrl, terminal }: PlantsCall): Promise<number> {
  const from = given.from === undefined ? least : parseId(given.from, '--from')
  const limit = parseLimit(given.limit ?? '100')
  return await withReader(storeUrl, async (reader) => {
    let listed = 0
    for await (const page of pagesOf(reader, { from, limit, interrupt: terminal.interrupt })) {
      await writeText(terminal.stdout, page.map(formatPlantLine).join(''))
      listed += page.length
      const next = (page.at(-1) as StoredPlant).id + 1n
      if (listed === limit && next <= greatest && (await reader.count(next, 1)).count > 0) {
        terminal.stderr.write(`more plants follow; continue with --from ${next}\n`)
      }
    }
    return 0
  })
}

/** Prints the plant of an id. Resolves with the exit code. */
export async function printPlant({ operand, storeUrl, terminal }: PlantsCall): Promise<number> {
  if (operand === undefined) throw new UsageError(`ID is missing, allowed: ${ids}`)
  const id = parseId(operand, 'ID')
  const plant = await withReader(storeUrl, (reader) => reader.get(id))
  if (plant === undefined) {
    terminal.stderr.write(`no plant has the id ${id}\n`)
    return 3
  }
  await writeText(terminal.stdout, formatPlantLine(plant))
  return 0
}

/** Prints the number of plants. Resolves with the exit code. */
export async function countPlants({ storeUrl, terminal }: PlantsCall): Promise<number> {
  const count = await withReader(storeUrl, (reader) => countAll(reader, terminal.interrupt))
  await writeText(terminal.stdout, `${count}\n`)
  return 0
}

/**
 * Counts all plants, in parts, so that no transaction lasts for the whole count. Rejects with an AbortError when
 * `interrupt` is aborted.
 */
export async function countAll(reader: Pick<PlantReader, 'count'>, interrupt: AbortSignal): Promise<number> {
  let total = 0
  let from = least
  for (;;) {
    interrupt.throwIfAborted()
    const { count, last = greatest } = await reader.count(from, countLength)
    total += count
    if (count < countLength || last === greatest) return total
    from = last + 1n
  }
}

type Range = { from?: bigint; limit?: number; interrupt: AbortSignal }

/**
 * Yields the plants in the order of their ids, in pages of bounded size. Throws an AbortError when `interrupt` is
 * aborted.
 */
export async function* pagesOf(
  reader: PlantReader,
  { from = least, limit = Number.POSITIVE_INFINITY, interrupt }: Range,
): AsyncGenerator<StoredPlant[]> {
  let next = from
  for (let left = limit; left > 0 && next <= greatest; ) {
    interrupt.throwIfAborted()
    const page = await reader.list(next, Math.min(left, pageLength))
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    left -= page.length
    next = last.id + 1n
  }
}

const ids = `an integer from ${least} to ${greatest}`

function parseId(text: string, name: string): bigint {
  const id = /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined
  if (id === undefined || id < least || id > greatest) throw new UsageError(`${name} is invalid, allowed: ${ids}`)
  return id
}

function parseLimit(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new UsageError('--limit is invalid, allowed: an integer of at least 1')
}
