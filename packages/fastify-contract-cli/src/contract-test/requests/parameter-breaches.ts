import type * as fc from 'fast-check'
import type { Violation } from '../exchange.ts'
import type { Json } from '../values/json-notations.ts'
import { certainBreach } from './certain-breach.ts'
import type { ParameterPart } from './operation-parts.ts'
import { isRejected } from './readings.ts'
import { generatorOf, type ValueSources } from './value-sources.ts'
import { isHeaderText, parameterText } from './write-request.ts'

/** Invalid values of one part of a request, with the violation. */
export type Breach = { violation: Violation; values: fc.Arbitrary<Json> }

/** The maximum number of ways to break one parameter or body that are tried. */
export const maxBreaches = 400

/** Returns the ways to break a parameter whose texts a server must reject, however it reads them. */
export function parameterBreaches(sources: ValueSources, part: ParameterPart, isOwn: boolean): Breach[] {
  const { schema, reading, in: location, name } = part
  if (sources.valueOf(name, schema) !== undefined) return []
  const isExploded = reading.kind === 'object' && reading.style === 'form' && reading.explode
  const found: Breach[] = []
  for (const { where, what, values } of sources.breaches(generatorOf(sources, part), schema).slice(0, maxBreaches)) {
    // Servers ignore a query parameter that they do not know.
    if (isExploded && where.startsWith('/additionalProperties')) continue
    const isBroken = (value: Json, accepts: (value: Json) => boolean) =>
      isSendable(part, value) && isRejected(reading, value, accepts)
    const breach = certainBreach(sources, { schema, values, isBroken, isOwn })
    const reason = `${where} ${what}`.trim()
    if (breach === undefined) continue
    const violation: Violation = { part: location, place: name, reason, ...(breach.isStrict && { isStrict: true }) }
    found.push({ violation, values: breach.values })
  }
  return found
}

function isSendable(part: ParameterPart, value: Json): boolean {
  const pairs = parameterText(part, value)
  if (pairs === undefined || pairs.length === 0) return false
  const isText = (text: string) => text !== '' && text.length < 2_500 && (part.in !== 'header' || isHeaderText(text))
  return pairs.every(([, text]) => isText(text))
}
