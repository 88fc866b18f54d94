import { mkdir, writeFile } from 'node:fs/promises'
import { cpus, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import type { Figures } from './measure-contender.ts'
import { cores } from './pinning.ts'
import { median, medianRatio, quartiles } from './statistics.ts'

/** The figures of a contender. A ratio divides the baseline's CPU per request by the contender's: more is better. */
export type Summary = Figures & {
  key: string
  name: string
  cpuQuartiles: [number, number]
  /** Undefined when the baseline was not measured. */
  toNodeHttp: number | undefined
  toFastify: number | undefined
  /** The ratio to the same contender of the other build; undefined without one. */
  toBefore: number | undefined
  rounds: Figures[]
}

/** Where and when figures were measured. */
export type Setting = {
  node: string
  /** Processor, cores, memory and kernel. */
  machine: string
  /** The date as YYYY-MM-DD. */
  date: string
  /** Whether server and load have a core each. */
  pinned: boolean
}

type Settings = {
  seconds: number
  connections: number
  /** Name and version of the load generator. */
  generator: string
}

export type Results = Setting & Settings & { rounds: number; contenders: Summary[] }

/** Returns a summary of the figures of all rounds for each contender. */
export function summarize(
  figures: Map<string, Figures[]>,
  nameOf: (key: string) => string,
  settings: Settings,
): Results {
  const contenders = Array.from(figures, ([key, rounds]): Summary => {
    const middle = (figure: keyof Figures) => median(rounds.map((round) => round[figure]))
    const costs = rounds.map(({ cpu }) => cpu)
    const ratioTo = (baseline: string) => {
      const others = figures.get(baseline)
      return (
        others &&
        medianRatio(
          others.map(({ cpu }) => cpu),
          costs,
        )
      )
    }
    return {
      key,
      name: nameOf(key),
      rate: middle('rate'),
      cpu: middle('cpu'),
      cpuQuartiles: quartiles(costs),
      p50: middle('p50'),
      p99: middle('p99'),
      errors: rounds.reduce((sum, { errors }) => sum + errors, 0),
      busy: middle('busy'),
      waited: middle('waited'),
      toNodeHttp: ratioTo('node-http'),
      toFastify: ratioTo('fastify'),
      toBefore: ratioTo(`before-${key}`),
      rounds,
    }
  })
  return { ...setting(), ...settings, rounds: contenders[0]?.rounds.length ?? 0, contenders }
}

/** Returns the setting of this process. */
export const setting = (): Setting => ({
  node: process.versions.node,
  machine: machine(),
  date: new Date().toISOString().slice(0, 10),
  pinned: cores !== undefined,
})

/** Returns a short description of this machine and its kernel. */
export function machine(): string {
  const [first, ...others] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${first?.model.trim()}, ${others.length + 1} cores, ${memory} GiB, ${type()} ${release()}`
}

/** Writes results as JSON into a directory, which it creates if necessary. Returns the path of the file. */
export async function writeResults(directory: string, name: string, results: Setting): Promise<string> {
  const path = join(directory, `${name}.json`)
  await mkdir(directory, { recursive: true })
  await writeFile(path, `${JSON.stringify(results, undefined, 2)}\n`)
  return path
}
