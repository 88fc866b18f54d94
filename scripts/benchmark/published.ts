import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Row } from './results.ts'
import type { SliceCounts } from './steal.ts'

/** What a run of the benchmark measured in a group with a version of Node. */
export type Run = {
  /** The version of Node. */
  version: string
  /** The machine, the load and the day. */
  conditions: string
  slices: SliceCounts
  rows: Row[]
  /** What the group has instead of rows. */
  text?: string
}

/** The last runs by the major version of Node and by group. */
export type Published = Record<string, Record<string, Run>>

/** The file that the figures of the page are made from. */
const file = join(import.meta.dirname, 'published.json')

export const readPublished = async (): Promise<Published> => JSON.parse(await readFile(file, 'utf8'))

/** Replaces a run, and leaves those of other versions of Node and of other groups. */
export async function publish(group: string, run: Run): Promise<Published> {
  const before = await readPublished()
  const major = String(Number.parseInt(run.version, 10))
  const published = { ...before, [major]: { ...before[major], [group]: run } }
  await writeFile(file, textOf(published))
  return published
}

/** Returns the text of the file, in which each spread is on one line. */
export const textOf = (published: Published): string =>
  `${JSON.stringify(published, null, 2).replace(/\[[^[\]{}"]+\]/g, (numbers) => numbers.replace(/\s+/g, ' ').replace('[ ', '[').replace(' ]', ']'))}\n`
