import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Result } from './judge.ts'

/** The results of each client, by `OPERATION/CASE`. */
export type Results = Record<string, { versions: Record<string, string>; cases: Record<string, Result> }>

/**
 * What is published of the results: the versions of each client, and for each case a mark for each client, in the order
 * of the clients.
 */
export type Verdicts = { clients: Record<string, Record<string, string>>; cases: Record<string, string> }

/**
 * `+`: right, `!`: another value without an error, `*`: an error of the client after the response, `4`: rejected by the
 * service, `0`: not sent, `-`: no code.
 */
export type Mark = '+' | '!' | '*' | '4' | '0' | '-'

/** The file that the tables of the page are made from. */
const file = join(import.meta.dirname, 'verdicts.json')

export const readVerdicts = (): Verdicts => JSON.parse(readFileSync(file, 'utf8'))

export const writeVerdicts = (verdicts: Verdicts): void => writeFileSync(file, `${JSON.stringify(verdicts, null, 2)}\n`)

/**
 * Returns verdicts with those of other results, which replace those of the same clients.
 *
 * @param names All clients, in their order.
 * @param keys All cases, in their order.
 */
export function merge(old: Verdicts, results: Results, names: string[], keys: string[]): Verdicts {
  const known = names.filter((name) => name in results || name in old.clients)
  const oldNames = Object.keys(old.clients)
  const markFor = (name: string, key: string): Mark => {
    const result = results[name]?.cases[key]
    return result === undefined ? (marksOf(old, key)[oldNames.indexOf(name)] ?? '-') : markOf(result)
  }
  return {
    clients: Object.fromEntries(known.map((name) => [name, results[name]?.versions ?? old.clients[name] ?? {}])),
    cases: Object.fromEntries(keys.map((key) => [key, known.map((name) => markFor(name, key)).join('')])),
  }
}

/** Returns the marks of a case, in the order of the clients. */
export const marksOf = (verdicts: Verdicts, key: string): Mark[] => [...(verdicts.cases[key] ?? '')] as Mark[]

/** A client that returns an error shows its user the mistake; one that returns another value does not. */
function markOf({ verdict, returned, arrived, message }: Result): Mark {
  if (verdict === 'right') return '+'
  if (verdict === 'rejected') return '4'
  if (verdict === 'not sent') return '0'
  if (verdict === 'missing') return '-'
  const isError = message !== undefined || 'error' in Object(returned)
  return isError && arrived === undefined ? '*' : '!'
}
