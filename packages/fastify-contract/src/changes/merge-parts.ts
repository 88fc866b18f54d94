import { isDeepStrictEqual } from 'node:util'
import { join } from '../compile/json-pointer.ts'
import { isNode, type Node } from '../compile/walk-document.ts'
import { schemaKeywords } from '../serve/schema-keywords.ts'
import { combined, isText } from './merge-keywords.ts'
import type { Part, Source } from './merge-sources.ts'

/**
 * A schema merged from parts: its plain values, and the sources of each subschema by keyword and, if it has one, key.
 */
export type Merged = {
  parts: Part[]
  values: Map<string, { value: unknown; from: Source[] }>
  schemas: Map<string, { from: Source[]; isList: boolean; byKey?: Map<string, Source[]> }>
}

/**
 * Returns one schema that accepts exactly the values that all parts accept, or undefined if a schema without allOf may
 * not be equivalent. The root is the part whose $ref or allOf contains all the others. The documentation of shared
 * parts is left out, because it is compared at their own places.
 */
export function mergeParts(parts: Part[], root?: Part): Merged | undefined {
  const binding = parts.filter(({ own }) => Object.keys(own).some((keyword) => !isText(keyword)))
  if (binding.length > 1 && !areIndependent(binding, root)) return undefined
  const merged: Merged = { parts, values: new Map(), schemas: new Map() }
  for (const keyword of new Set(parts.flatMap(({ own }) => Object.keys(own)))) {
    const holders = parts.filter(({ own, shared }) => {
      // A shared discriminator is already expressed in the schemas that it distinguishes.
      const isLeftOut = shared && (isText(keyword) || keyword === 'discriminator')
      return Object.hasOwn(own, keyword) && !isLeftOut
    })
    if (holders.length > 0 && !mergeKeyword(merged, keyword, holders)) return undefined
  }
  return withoutSurplus(merged)
}

function mergeKeyword({ values, schemas }: Merged, keyword: string, holders: Part[]): boolean {
  const at = (part: Part, ...keys: string[]) => ({ pointer: join(part.pointer, keyword, ...keys), shared: part.shared })
  const shape = Object.hasOwn(schemaKeywords, keyword) ? schemaKeywords[keyword] : undefined
  const held = holders.map(({ own }) => own[keyword])
  const from = holders.map((part) => at(part))
  if (shape === undefined) {
    const value = combined(keyword, held)
    values.set(keyword, { value, from })
    return value !== undefined
  }
  if (shape === 'one') {
    const isSame = combined(keyword, held) !== undefined
    schemas.set(keyword, { from: isSame ? from.slice(0, 1) : from, isList: false })
    return isSame || keyword === 'items'
  }
  const isUnited = keyword === 'properties' || keyword === 'patternProperties'
  if (!isUnited && combined(keyword, held) === undefined) return false
  const byKey = new Map<string, Source[]>()
  for (const part of isUnited ? holders : holders.slice(0, 1)) {
    if (typeof part.own[keyword] !== 'object') return false
    for (const key of Object.keys(part.own[keyword] as Node)) byKey.set(key, [...(byKey.get(key) ?? []), at(part, key)])
  }
  schemas.set(keyword, { from, isList: shape === 'list', byKey })
  return true
}

/** Removes an enum that contains the const. Returns undefined if the enum does not contain it. */
function withoutSurplus(merged: Merged): Merged | undefined {
  const [constant, list] = [merged.values.get('const'), merged.values.get('enum')]
  if (constant === undefined || list === undefined) return merged
  if (![list.value].flat().some((item) => isDeepStrictEqual(item, constant.value))) return undefined
  merged.values.delete('enum')
  return merged
}

/** The keywords whose meaning depends on each other (JSON Schema 2020-12, core, sections 10.2.2 and 10.3.1). */
const groups = [
  ['if', 'then', 'else'],
  ['contains', 'minContains', 'maxContains'],
]

/**
 * Returns whether a keyword identifies a schema or refers to one (core, section 8), or is a boolean keyword of OpenAPI
 * 3.0.
 */
const isBound = ([keyword, value]: [string, unknown]): boolean =>
  /^\$(id|anchor|dynamicAnchor|dynamicRef|recursiveRef|recursiveAnchor|schema|vocabulary)$/.test(keyword) ||
  (/^(exclusiveM(in|ax)imum|nullable)$/.test(keyword) && value === true)

/** Returns whether all keywords keep their meaning when the parts are merged. */
function areIndependent(parts: Part[], root: Part | undefined): boolean {
  const holding = (...keywords: string[]) => parts.filter(({ own }) => keywords.some((key) => Object.hasOwn(own, key)))
  const isEvaluating = (part: Part) => holding('unevaluatedProperties', 'unevaluatedItems').includes(part)
  if (parts.some((part) => Object.entries(part.own).some(isBound) || (isEvaluating(part) && part !== root)))
    return false
  for (const group of groups) {
    const held = holding(...group).map(({ own }) => group.map((keyword) => own[keyword]))
    if (held.length > 1 && combined('', held) === undefined) return false
  }
  if (holding('prefixItems').length > 0 && holding('prefixItems', 'items').length > 1) return false
  return parts.every((part) => isOpen(part.own.additionalProperties) || knowsProperties(part, parts))
}

const isOpen = (schema: unknown) =>
  schema === undefined || schema === true || (isNode(schema) && Object.keys(schema).length === 0)

/**
 * Returns whether a part names every property of the others, so that merging keeps its additionalProperties unchanged.
 */
function knowsProperties(part: Part, parts: Part[]): boolean {
  const known = Object.keys((part.own.properties ?? {}) as Node)
  return parts
    .filter((other) => other !== part)
    .every(({ own }) => {
      const names = Object.keys((own.properties ?? {}) as Node)
      return isOpen(own.additionalProperties) && !own.patternProperties && names.every((name) => known.includes(name))
    })
}
