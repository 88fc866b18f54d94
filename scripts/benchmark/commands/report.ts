import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { table } from '../report.ts'
import type { Pairs } from './measure.ts'
import { mediansOf, type Ratios, ratiosOf } from './ratios.ts'

/** What the rows whose names match should be at most: a ratio of each figure, or seconds. */
const targets: [row: RegExp, target: string][] = [
  [/: edited$/, '1.2, 1.5, 1.2'],
  [/: unchanged$|: --check$/, '0.3 s'],
  [/^Pets: new$/, '1 s'],
  [/^Pets: dev/, '0.7 s'],
  [/: dev/, '2.5 s'],
  [/: init /, '3 s'],
  [/: tsc$/, '1.2, -, -, 1.5'],
]

/**
 * Returns the ratios of the commands as a table, with the figures of the commands themselves, the elapsed times of their
 * peer, and the targets.
 */
export function commandTable(pairs: Pairs): string {
  const [own, peer] = [mediansOf(pairs, 'own'), mediansOf(pairs, 'peer')]
  const text = (value: number | undefined, digits = 2) => value?.toFixed(digits) ?? '-'
  const rows = Object.entries(ratiosOf(pairs)).map(function rowOf([row, ratio]) {
    const ratios = [ratio.wall, ratio.cpu, ratio.memory, ratio.instantiations].map((value) => text(value))
    const [, target = '-'] = targets.find(([pattern]) => pattern.test(row)) ?? []
    const values = [text(own[row]?.wall), text(own[row]?.cpu), text(own[row]?.memory, 0), text(peer[row]?.wall)]
    return [row, ...ratios, target, ...values]
  })
  const ratios = ['ratio of elapsed times', 'of CPU', 'of memory', 'of instantiations', 'at most']
  const values = ['elapsed, s', 'CPU, s', 'memory, MiB', "openapi-typescript's elapsed, s"]
  return table([['', ...ratios, ...values], ...rows])
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
