import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { FaultOptions } from '../fault-options.ts'
import { idsOf, plantOf } from '../generated-plants.ts'
import { randomOf } from '../seeded-random.ts'
import { inspect } from '../sqlite-file.ts'
import { changesOf, writeImage } from './disk-image.ts'
import { type Recording, storeFile } from './record-writes.ts'
import type { Call } from './strace-log.ts'

/** One image in this many is also opened by the store itself. */
const sample = 10

export type Recorded = {
  recording: Recording
  calls: Call[]
  /** First line of the trace at which the power may fail; default: the first line. */
  after?: number | undefined
}

export type Findings = {
  /** Images that lost an acknowledged plant, and those among them without a database file. */
  losing: number
  missing: number
  /** Images that fail SQLite's integrity check. */
  broken: number
  /** Acknowledged plants lost, and rows never sent, in all images. */
  lost: number
  phantoms: number
}

/** Checks images of the disk, each for a power failure at a random line of the trace. */
export async function lookAtImages(recorded: Recorded, options: FaultOptions): Promise<Findings> {
  const { directory, random, images } = options
  const { recording, calls, after = calls[0]?.start as number } = recorded
  const changes = changesOf(calls, recording.directory)
  const ids = idsOf(randomOf(recording.seed))
  const sent = new Set(Array.from({ length: recording.count }, () => ids.next().value as bigint))
  const last = calls.at(-1)?.end as number
  const findings: Findings = { losing: 0, missing: 0, broken: 0, lost: 0, phantoms: 0 }

  for (let index = 0; index < images; index++) {
    const cut = after + 1 + random.below(last + 1 - after)
    const acknowledged = acknowledgedBefore(calls, cut)
    const to = join(directory, 'image')
    const path = join(to, storeFile)
    await mkdir(to)
    writeImage({ changes, cut, random, from: recording.directory, to })
    if (acknowledged.size > 0 && !existsSync(path)) findings.missing++
    const lostByStore = index % sample === 0 ? await countLost(path, acknowledged) : 0
    const { lost, phantoms, intact } = inspect(path, { sent, acknowledged }, { readOnly: false })
    await rm(to, { recursive: true })
    if (lost + lostByStore > 0) findings.losing++
    if (!intact) findings.broken++
    findings.lost += Math.max(lost, lostByStore)
    findings.phantoms += phantoms
  }
  return findings
}

const acknowledgedBefore = (calls: Call[], cut: number): Set<bigint> =>
  new Set(calls.flatMap((call) => (call.name === 'acknowledge' && call.start < cut ? [call.id] : [])))

/** Counts the plants that are lost for the store itself: all of them when it fails to open. */
async function countLost(path: string, acknowledged: Set<bigint>): Promise<number> {
  const { openStore } = (await import(resolve('dist/store.js'))) as typeof import('../../../src/store/open.ts')
  try {
    const store = await openStore(`sqlite:${path}`)
    const outcomes = await Promise.all([...acknowledged].map((id) => store.create(plantOf(id))))
    await store.close()
    return outcomes.filter((outcome) => outcome !== 'identical').length
  } catch (error) {
    process.stderr.write(`the store failed to open an image: ${(error as Error).message}\n`)
    return acknowledged.size
  }
}
