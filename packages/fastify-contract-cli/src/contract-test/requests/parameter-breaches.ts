import type * as fc from 'fast-check'
import type { Violation } from '../exchange.ts'
import type { Json } from '../values/json-notations.ts'
import { certainBreach } from './certain-breach.ts'
import { brokenFormTest, type IsBroken } from './form-values.ts'
import type { ParameterPart } from './operation-parts.ts'
import { isOverlooked, isReadAsText, isRejected } from './readings.ts'
import { generatorOf, type ValueSources } from './value-sources.ts'
import { isHeaderText, parameterText } from './write-request.ts'

/** Invalid values of one part of a request, with the violation. */
export type Breach = { violation: Violation; values: fc.Arbitrary<Json> }

/** The maximum number of ways to break one parameter or body that are tried. */
const maxBreaches = 250

/** Returns at most `maxBreaches` of all ways, evenly distributed. */
export const someOf = <T>(all: T[]): T[] =>
  all.length <= maxBreaches
    ? all
    : Array.from({ length: maxBreaches }, (_, index) => all[Math.floor((index * all.length) / maxBreaches)] as T)

/** Returns the ways to break a parameter whose texts a server must reject, however it reads them. */
export function parameterBreaches(sources: ValueSources, part: ParameterPart, isOwn: boolean): Breach[] {
  const { schema, reading, in: location, name } = part
  if (sources.hook(name, schema) !== undefined) return []
  const isExploded = reading.kind === 'object' && reading.style === 'form' && reading.explode
  const found: Breach[] = []
  for (const { where, what, values } of someOf(sources.breaches(generatorOf(sources, part), schema))) {
    // Servers ignore a query parameter that they do not know.
    if (isExploded && where.startsWith('/additionalProperties')) continue
    if (isOverlooked(reading, what)) continue
    const isBroken = brokenTest(part, where, what)
    if (isBroken === undefined) continue
    const breach = certainBreach(sources, { schema, values, isBroken, isOwn })
    const reason = `${where} ${what}`.trim()
    if (breach === undefined) continue
    const violation: Violation = { part: location, place: name, reason, ...(breach.isStrict && { isStrict: true }) }
    found.push({ violation, values: breach.values })
  }
  return found
}

/** Returns a function that tells whether a value is invalid; undefined if servers may overlook what is wrong. */
function brokenTest(part: ParameterPart, where: string, what: string): IsBroken | undefined {
  const { whole } = part.reading
  if (whole === undefined) {
    if (isReadAsText(part.reading, what)) return undefined
    return (value, accepts) => isSendable(part, value) && isRejected(part.reading, value, accepts)
  }
  if (whole === 'json') return (value, accepts) => !accepts(value)
  return brokenFormTest(whole, where, what)
}

function isSendable(part: ParameterPart, value: Json): boolean {
  const pairs = parameterText(part, value)
  if (pairs === undefined || pairs.length === 0) return false
  const isText = (text: string) => text !== '' && text.length < 2_500 && (part.in !== 'header' || isHeaderText(text))
  return pairs.every(([, text]) => isText(text))
}
