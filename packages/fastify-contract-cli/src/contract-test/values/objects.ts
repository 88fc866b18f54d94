import * as fc from 'fast-check'
import type { Schema } from 'fastify-contract/contract'
import { isIgnored } from 'fastify-contract/schema'
import { filterOrThrow, membersOf } from './arbitrary.ts'
import type { Json, Members } from './json-notations.ts'
import type { Keywords } from './keywords.ts'
import type { SchemaViolation } from './schema-violation.ts'
import { anyValues, type ValueOptions } from './value-options.ts'

type Values = (schema: Schema) => fc.Arbitrary<Json> | undefined

/**
 * Returns objects that satisfy the keywords, with and without optional members and with some additional members, or
 * undefined if a required member has no values. Leaves out the members that a request ignores. `below` returns the
 * values of a member's schema, or undefined.
 *
 * @param hasOptional Whether the objects have members of `properties` that are not required.
 */
export function objects(
  keywords: Keywords,
  below: Values,
  options: ValueOptions = anyValues,
  hasOptional = true,
): fc.Arbitrary<Members> | undefined {
  const { properties = {}, required = [], additionalProperties = true } = keywords
  const model: Record<string, fc.Arbitrary<Json>> = {}
  for (const name of new Set([...required, ...(hasOptional ? Object.keys(properties) : [])])) {
    const schema = Object.hasOwn(properties, name) ? (properties[name] as Schema) : additionalProperties
    if (isIgnored(schema)) continue
    const values = givenValues(options, name, schema) ?? below(schema)
    if (values !== undefined) model[name] = values
    else if (required.includes(name)) return undefined
  }
  const described = fc.record(model, { requiredKeys: required, noNullPrototype: true })
  const others = additionalMembers(keywords, below, options)
  if (others === undefined) return described
  return fc.tuple(described, fc.array(others, { maxLength: 2 })).map(([a, b]) => ({ ...a, ...membersOf(b) }))
}

/** Returns the values that the hook gives for a name; undefined if it gives none. */
function givenValues({ hook }: ValueOptions, name: string, schema: Schema): fc.Arbitrary<Json> | undefined {
  const isGiven = hook(name, schema) !== undefined
  // The hook may return another value each time, such as one that must be unique.
  return isGiven ? fc.constant(name).map((each) => hook(each, schema) as Json) : undefined
}

function additionalMembers(
  { properties = {}, required = [], additionalProperties }: Keywords,
  below: Values,
  { names, isOpen }: ValueOptions,
) {
  const values = below(additionalProperties ?? isOpen)
  if (values === undefined) return undefined
  const isOther = (name: string) => !Object.hasOwn(properties, name) && !required.includes(name)
  return fc.tuple(filterOrThrow(names, isOther, 'additional properties'), values)
}

/** Returns objects that lack a required member, have a forbidden member, or have one invalid member. */
export function objectViolations(
  keywords: Keywords,
  some: fc.Arbitrary<Members>,
  ofMember: (schema: Schema) => SchemaViolation[],
  options: ValueOptions = anyValues,
): SchemaViolation[] {
  const { properties = {}, required = [], additionalProperties } = keywords
  const breaches: SchemaViolation[] = []
  for (const name of required) {
    const values = some.map((members) => membersOf(Object.entries(members).filter(([other]) => other !== name)))
    breaches.push({ where: `/${escapedName(name)}`, what: 'missing', values })
  }
  for (const [name, schema] of Object.entries(properties)) {
    if (isIgnored(schema)) continue
    for (const { where, what, values } of ofMember(schema)) {
      const broken = fc.tuple(some, values).map(([members, value]) => ({ ...members, [name]: value }))
      breaches.push({ where: `/${escapedName(name)}${where}`, what, values: broken })
    }
  }
  if (additionalProperties === undefined) return breaches
  const others = additionalMembers(
    { properties, required, additionalProperties: true },
    () => fc.constant(null),
    options,
  ) as fc.Arbitrary<[string, null]>
  for (const { where, what, values } of ofMember(additionalProperties)) {
    const broken = fc
      .tuple(some, others, values)
      .map(([members, [name], value]) => ({ ...members, ...membersOf([[name, value]]) }))
    breaches.push({ where: `/additionalProperties${where}`, what, values: broken })
  }
  return breaches
}

/** Escapes a member name for a JSON Pointer (RFC 6901 section 3). */
const escapedName = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
