import { cpus, totalmem } from 'node:os'
import type { Figures } from './measure-contender.ts'
import { cores } from './pinning.ts'
import { median, medianRatio } from './statistics.ts'

/** The ratios divide the baseline's CPU per request by the contender's: more is better. */
export type Summary = Figures & {
  key: string
  name: string
  /** The minimum and the maximum of the rounds. */
  cpuRange: [number, number]
  /** Undefined when the baseline was not measured. */
  toNodeHttp: number | undefined
  toFastify: number | undefined
  rounds: Figures[]
}

export type Results = {
  node: string
  machine: string
  /** YYYY-MM-DD. */
  date: string
  pinned: boolean
  rounds: number
  seconds: number
  connections: number
  contenders: Summary[]
}

type Settings = { seconds: number; connections: number }

/** Summarizes the figures of all rounds, by the keys of the contenders. */
export function summarize(
  figures: Map<string, Figures[]>,
  nameOf: (key: string) => string,
  { seconds, connections }: Settings,
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
      cpuRange: [Math.min(...costs), Math.max(...costs)],
      p50: middle('p50'),
      p99: middle('p99'),
      errors: rounds.reduce((sum, { errors }) => sum + errors, 0),
      busy: middle('busy'),
      waited: middle('waited'),
      toNodeHttp: ratioTo('node-http'),
      toFastify: ratioTo('fastify'),
      rounds,
    }
  })
  return {
    node: process.versions.node,
    machine: machine(),
    date: new Date().toISOString().slice(0, 10),
    pinned: cores !== undefined,
    rounds: contenders[0]?.rounds.length ?? 0,
    seconds,
    connections,
    contenders,
  }
}

/** Returns a short description of this machine. */
export function machine(): string {
  const [first, ...others] = cpus()
  return `${first?.model.trim()}, ${others.length + 1} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform}`
}
