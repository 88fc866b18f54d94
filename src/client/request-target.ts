import type { CallStyles } from './call-styles.ts'
import { filledPath, type ParameterPair, type Place, pairText, parameterPairs } from './parameter-pairs.ts'

/** The parameters of a call by their places. */
export type CallParameters = Partial<Record<'path' | 'query' | 'header', Record<string, unknown>>>

/** Returns the names and values by which the parameters of one place are sent. */
type PairsOf = (place: keyof CallParameters & Place) => ParameterPair[]

/**
 * Returns what writes the parameters of a call of an operation, which is a method and a path; what is undefined is left
 * out. It throws a TypeError for a value that its style cannot hold.
 */
export function pairWriter(operation: string, params: CallParameters, styles: CallStyles): PairsOf {
  const ofOperation = own(styles, operation)
  return (place) =>
    Object.entries(params[place] ?? {})
      .filter(([, value]) => value !== undefined)
      .flatMap(([name, value]) =>
        parameterPairs({ ...own(own(ofOperation, place), name), in: place, name }, value, (problem) => {
          throw new TypeError(`${place}/${name}: ${problem}`)
        }),
      )
}

/** Returns the path and query of a call. Throws a TypeError when the path would lead elsewhere. */
export function requestTarget(template: string, pairs: PairsOf): string {
  const path = filledPath(template, pairs('path'))
  // A URL cannot hold such a part, however it is encoded.
  if (/\/(\.|%2e){1,2}(\/|$)/i.test(path)) throw new TypeError(`${template}: no part of a path can be . or ..`)
  const query = pairs('query').map(pairText).join('&')
  return query === '' ? path : `${path}?${query}`
}

/** A name may be one that objects inherit. */
const own = <T>(holder: Record<string, T> | undefined, name: string): T | undefined =>
  holder !== undefined && Object.hasOwn(holder, name) ? holder[name] : undefined
