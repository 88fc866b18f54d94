import type { Schema } from '../contract/schema-keywords.ts'
import { json, jsonList, jsonObject } from '../json/write-json.ts'
import { isIgnored } from './exact-keywords.ts'
import { describedBy, listsAll, type MergedKeywords, mergeKeywords, schemaIdentities } from './merged-keywords.ts'

/*
 * The serializer without generated code, several times as slow. It writes what a generated one leaves to the validator,
 * and the bodies of webhooks, whose schemas have no generated code.
 */

/** Returns the JSON text of a value that is valid under its schema. */
export type Serialize = (value: unknown) => string

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
    const identity = `${isRemovalSafe} ${identityOf(describedBy(merged))}`
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
    return function textOfObject(value) {
      if (typeof value !== 'object' || value === null) return json(value)
      if (Array.isArray(value)) return jsonList(value, writeItem)
      return jsonObject(isListed ? properties.keys() : Object.keys(value), value, memberWriter)
    }
  }
}

/**
 * Returns whether every value of merged keywords is written as it is: they describe no properties, and neither do the
 * schemas of items and other members.
 */
function isWhole(shared: Record<string, Schema>, { properties, patterns, items, others = [] }: MergedKeywords) {
  const isScalar = (schema: Schema) => {
    const { properties, patterns, items, others = [] } = mergeKeywords(shared, [schema])
    return properties.size + patterns.length + items.length + others.length === 0
  }
  return properties.size + patterns.length === 0 && [...items, ...others].every(isScalar)
}
