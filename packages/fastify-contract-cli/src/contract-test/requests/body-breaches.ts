import { keysOf } from '../../document/json-pointer.ts'
import type { Violation } from '../exchange.ts'
import type { Json } from '../values/json-notations.ts'
import type { SchemaViolation } from '../values/schema-violation.ts'
import { fieldOf, isMembers, textualOf } from './body-values.ts'
import { certainBreach } from './certain-breach.ts'
import type { BodyPart } from './operation-parts.ts'
import { type Breach, maxBreaches } from './parameter-breaches.ts'
import { isRejected } from './readings.ts'
import type { ValueSources } from './value-sources.ts'

/** Returns the ways to break a body of a media type that a server must reject, however it reads texts. */
export function bodyBreaches(sources: ValueSources, part: BodyPart, isOwn: boolean): Breach[] {
  const { kind, schema, isChecked } = part
  if (!isChecked) return []
  const isItems = kind === 'lines' || kind === 'events'
  const found: Breach[] = []
  for (const one of sources.breaches(sources.bodies, schema).slice(0, maxBreaches)) {
    const isBroken = brokenTest(part, one)
    const breach = isBroken && certainBreach(sources, { schema, values: one.values, isBroken, isOwn })
    if (!breach) continue
    // A server may respond before it has read all items.
    const isStrict = breach.isStrict || isItems
    const violation: Violation = { part: 'body', place: one.where, reason: one.what, ...(isStrict && { isStrict }) }
    found.push({ violation, values: isItems ? breach.values.map((item) => [item]) : breach.values })
  }
  return found
}

type IsBroken = (value: Json, accepts: (value: Json) => boolean) => boolean

/** Returns a function that tells whether a value is invalid in the media type; undefined if it cannot express it. */
function brokenTest(part: BodyPart, { where }: SchemaViolation): IsBroken | undefined {
  const { kind } = part
  // Servers take null for a missing body.
  if (kind === 'json') return (value, accepts) => (value !== null || part.isRequired) && !accepts(value)
  if (kind === 'lines') return (value, accepts) => !accepts(value)
  if (kind === 'events') return (value, accepts) => typeof value !== 'string' && !accepts(value)
  if (kind === 'text') return (value, accepts) => typeof value === 'string' && value !== '' && !accepts(value)
  const [name] = keysOf(`#${where}`)
  if (name === undefined) return undefined
  // Servers ignore a field that they do not know.
  if (where.startsWith('/additionalProperties')) return undefined
  return (value, accepts) => isBrokenForm(part, name, value, accepts)
}

function isBrokenForm(part: BodyPart, name: string, value: Json, accepts: (value: Json) => boolean): boolean {
  if (!isMembers(value) || Object.keys(value).length === 0 || !Object.values(value).every(isSendable)) return false
  if (!Object.hasOwn(value, name)) return !accepts(value)
  const field = fieldOf(part, name)
  const member = value[name] as Json
  if (field === undefined || field.part?.isFile || member === null) return false
  const acceptsMember = (one: Json) => accepts({ ...value, [name]: one })
  if (field.kind === 'json' && !field.part?.isItem) return !acceptsMember(member)
  if (field.part === undefined) return isRejected(textualOf(field), member, acceptsMember)
  const kind = field.part.isItem ? 'array' : 'scalar'
  const items = [member].flat()
  if (field.kind === 'json') return Array.isArray(member) && member.length > 0 && !acceptsMember(member)
  if (items.length === 0 || items.some((item) => typeof item === 'object')) return false
  return isRejected({ ...textualOf(field), kind }, member, acceptsMember)
}

/** Returns whether a member of a form has a text: null has none, and an empty list has no pair. */
const isSendable = (value: Json): boolean =>
  value !== null && value !== '' && !(typeof value === 'object' && Object.keys(value).length === 0)
