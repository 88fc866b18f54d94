import { isIgnored } from './exact-keywords.ts'
import { isWhole, listsAll, type MergedKeywords, mergeKeywords, schemaIdentities } from './merged-keywords.ts'
import type { Schema } from './schema-keywords.ts'

/** Returns the JSON text of a value that is valid under its schema. */
export type Serialize = (value: unknown) => string

/** Characters that JSON.stringify may escape. This test is cheaper than JSON.stringify. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 section 7 wants them escaped
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/

/** Returns the JSON text of a string. */
export const quote = (text: string): string => (escaped.test(text) ? JSON.stringify(text) : `"${text}"`)

/** Returns the JSON text of a value as it is, with each bigint as an integer. JSON.stringify throws for a bigint. */
export function json(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  // JSON.stringify takes longer for a number.
  if (typeof value === 'bigint' || Number.isFinite(value)) return String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return list(value, json)
  return object(Object.keys(value), value, () => json)
}

function list(values: unknown[], write: Serialize): string {
  let text = '['
  for (let index = 0; index < values.length; index++) text += (index === 0 ? '' : ',') + write(values[index])
  return `${text}]`
}

/** Writes the own members with these names; `writerOf` returns undefined for a member that is not written. */
function object(names: Iterable<string>, value: object, writerOf: (name: string) => Serialize | undefined): string {
  let text = '{'
  for (const name of names) {
    const member = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
    const write = member === undefined ? undefined : writerOf(name)
    if (write !== undefined) text += `${text === '{' ? '' : ','}${JSON.stringify(name)}:${write(member)}`
  }
  return `${text}}`
}

/**
 * Returns the serializer of one schema, for values that are valid under it. It leaves out ignored properties, and those
 * that a plain object schema does not list. A schema is plain if it has only `plainKeywords` and no keyword above it
 * looks into its members: then the value stays valid without the unlisted properties. Everything else is written as it
 * is. A bigint becomes an integer; fast-json-stringify rounds it on newer versions of V8.
 */
export function createSerializer(shared: Record<string, Schema>, schema: Schema): Serialize {
  const identityOf = schemaIdentities()
  const writers = new Map<string, Serialize>()
  return writerOf([schema], true)

  /**
   * Returns the function that writes the values that these schemas describe together. `isRemovalSafe` tells that no
   * keyword above these schemas looks into the members of their values.
   */
  function writerOf(schemas: Schema[], isRemovalSafe: boolean): Serialize {
    const merged = mergeKeywords(shared, schemas)
    if (isWhole(shared, merged)) return json
    // A schema may contain itself, so the same schemas share one function.
    const identity = `${isRemovalSafe} ${identityOf(merged)}`
    const writer = writers.get(identity) ?? writerFor(merged, isRemovalSafe && merged.isPlain)
    writers.set(identity, writer)
    return writer
  }

  function writerFor(merged: MergedKeywords, isRemovalSafe: boolean): Serialize {
    const { properties, patterns, items, others } = merged
    let item: Serialize | undefined
    const writeItem: Serialize = (value) => {
      item ??= writerOf(items, isRemovalSafe)
      return item(value)
    }
    const known = new Map<string, Serialize | undefined>()
    const memberWriter = (name: string): Serialize | undefined => {
      const own = properties.get(name)
      // A property has its own writer. Other members share one if their names match the same patterns.
      const matches = patterns.map(([pattern]) => pattern.test(name))
      const key = own === undefined ? String(matches) : JSON.stringify(name)
      if (!known.has(key)) {
        const matching = patterns.flatMap(([, schema], index) => (matches[index] ? [schema] : []))
        const described = [...(own ?? []), ...matching]
        const schemas = described.length > 0 ? described : (others ?? (isRemovalSafe ? undefined : []))
        const isWritten = schemas !== undefined && own?.some(isIgnored) !== true
        known.set(key, isWritten ? writerOf(schemas, isRemovalSafe) : undefined)
      }
      return known.get(key)
    }
    const isListed = isRemovalSafe && listsAll(merged)
    return (value) => {
      if (typeof value !== 'object' || value === null) return json(value)
      if (Array.isArray(value)) return list(value, writeItem)
      return object(isListed ? properties.keys() : Object.keys(value), value, memberWriter)
    }
  }
}
