import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { table } from '../report.ts'
import type { Pairs } from './measure.ts'
import { mediansOf, type Ratios, ratiosOf } from './ratios.ts'

/** Returns the ratios of the commands as a table, with the elapsed times and the memory of the commands themselves. */
export function commandTable(pairs: Pairs): string {
  const [own, peer] = [mediansOf(pairs, 'own'), mediansOf(pairs, 'peer')]
  const text = (value: number | undefined, digits = 2) => value?.toFixed(digits) ?? '-'
  const rows = Object.entries(ratiosOf(pairs)).map(function rowOf([row, ratio]) {
    const ratios = [ratio.wall, ratio.cpu, ratio.memory].map((value) => text(value))
    return [row, ...ratios, text(own[row]?.wall), text(own[row]?.cpu), text(peer[row]?.wall), text(own[row]?.memory, 0)]
  })
  const values = ['elapsed, s', 'CPU, s', "openapi-typescript's elapsed, s", 'memory, MiB']
  return table([['', 'ratio of elapsed times', 'of CPU', 'of memory', ...values], ...rows])
}

/** The file with the ratios of the last `--write`, by the major version of Node. */
const file = join(import.meta.dirname, 'ratios.json')

type Committed = Record<string, Ratios>

const committed = async (): Promise<Committed> => JSON.parse(await readFile(file, 'utf8'))

/** Returns the committed ratios for a version of Node; undefined if there are none. */
export const committedRatios = async (version: string): Promise<Ratios | undefined> =>
  (await committed())[majorOf(version)]

/** Commits the ratios of a version of Node to the file. */
export async function writeRatios(version: string, ratios: Ratios): Promise<void> {
  await writeFile(file, `${JSON.stringify({ ...(await committed()), [majorOf(version)]: ratios }, null, 2)}\n`)
}

const majorOf = (version: string): string => version.split('.')[0] as string
