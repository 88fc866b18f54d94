import type { Violation } from '../exchange.ts'
import { type Json, jsonText } from '../values/json-notations.ts'
import type { SchemaViolation } from '../values/schema-violation.ts'
import { bodySource } from './body-values.ts'
import { certainBreach } from './certain-breach.ts'
import { brokenFormTest, type IsBroken, isMembers } from './form-values.ts'
import type { BodyPart } from './operation-parts.ts'
import { type Breach, someOf } from './parameter-breaches.ts'
import type { ValueSources } from './value-sources.ts'

/** Returns the ways to break a body of a media type that a server must reject, however it reads texts. */
export function bodyBreaches(sources: ValueSources, part: BodyPart, isOwn: boolean): Breach[] {
  const { kind, schema, isChecked } = part
  if (!isChecked) return []
  const isItems = kind === 'lines' || kind === 'events'
  const found: Breach[] = []
  const candidates = sources.breaches(bodySource(sources, part), schema).flatMap((one) => {
    const isBroken = brokenTest(part, one)
    return isBroken ? [{ ...one, isBroken }] : []
  })
  for (const one of someOf(candidates)) {
    const breach = certainBreach(sources, { schema, values: one.values, isBroken: one.isBroken, isOwn })
    if (!breach) continue
    // A server may respond before it has read all items.
    const isStrict = breach.isStrict || isItems
    const violation: Violation = { part: 'body', place: one.where, reason: one.what, ...(isStrict && { isStrict }) }
    found.push({ violation, values: isItems ? breach.values.map((item) => [item]) : breach.values })
  }
  return found
}

/** Returns a function that tells whether a value is invalid in the media type; undefined if it cannot express it. */
function brokenTest(part: BodyPart, { where, what }: SchemaViolation): IsBroken | undefined {
  const { kind } = part
  // Servers take null for a missing body.
  if (kind === 'json')
    return (value, accepts) => (value !== null || part.isRequired) && !accepts(value) && !accepts(withFractions(value))
  if (kind === 'lines') return (value, accepts) => !accepts(value) && !accepts(withFractions(value))
  if (kind === 'events')
    return (value, accepts) => typeof value !== 'string' && !accepts(value) && !accepts(jsonText(value))
  if (kind === 'text') return (value, accepts) => typeof value === 'string' && value !== '' && !accepts(value)
  return part.form && brokenFormTest(part.form, where, what)
}

/** Returns a value with a fraction for each integer that a double does not hold: some servers do not read an integer. */
function withFractions(value: Json): Json {
  if (typeof value === 'bigint' || Number.isInteger(value)) return Number.isSafeInteger(Number(value)) ? value : 0.5
  if (Array.isArray(value)) return value.map(withFractions)
  return isMembers(value)
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withFractions(one)]))
    : value
}
