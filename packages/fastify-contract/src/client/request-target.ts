import type { CallStyles } from './call-styles.ts'
import { expandPath, type ParameterLocation, type ParameterPair, pairText, parameterPairs } from './parameter-pairs.ts'

/** The parameters of a call by location. */
export type CallParameters = Partial<Record<'path' | 'query' | 'header', Record<string, unknown>>>

/** Serializes the parameters of one location to pairs of name and value. */
type PairsOf = (location: keyof CallParameters & ParameterLocation) => ParameterPair[]

/**
 * Returns a function that serializes the parameters of a call, without undefined ones. `operation` is a method and a
 * path. The function throws a TypeError for a value that its style cannot represent.
 */
export function pairWriter(operation: string, params: CallParameters, styles: CallStyles): PairsOf {
  const ofOperation = own(styles, operation)
  return (location) =>
    Object.entries(params[location] ?? {})
      .filter(([, value]) => value !== undefined)
      .flatMap(([name, value]) =>
        parameterPairs({ ...own(own(ofOperation, location), name), in: location, name }, value, (problem) => {
          throw new TypeError(`${location}/${name}: ${problem}`)
        }),
      )
}

/**
 * Returns the path and query of a call. Throws a TypeError when a parameter of the path is empty, or a segment is `.` or
 * `..`: that would be another path.
 */
export function requestTarget(template: string, pairs: PairsOf): string {
  const parameters = pairs('path')
  const empty = parameters.find(([, text]) => text === '')
  if (empty !== undefined) throw new TypeError(`path/${empty[0]}: cannot be empty`)
  const path = expandPath(template, parameters)
  // URL parsers resolve such a segment even when it is percent-encoded.
  if (/\/(\.|%2e){1,2}(\/|$)/i.test(path)) throw new TypeError(`${template}: a path segment cannot be "." or ".."`)
  const query = pairs('query').map(pairText).join('&')
  return query === '' ? path : `${path}?${query}`
}

/** Returns an own property only: a name such as `toString` is also that of an inherited property. */
const own = <T>(holder: Record<string, T> | undefined, name: string): T | undefined =>
  holder !== undefined && Object.hasOwn(holder, name) ? holder[name] : undefined
