import { withDiscriminators } from '../compile/discriminators.ts'
import { keysOf, resolve } from '../compile/json-pointer.ts'
import type { Document } from '../compile/openapi-document.ts'
import { mapDocument, type Node, walkSchemas } from '../compile/walk-document.ts'
import { isText } from './merge-keywords.ts'
import { schemaMerger } from './merged-schemas.ts'
import { targetOf } from './schema-references.ts'
import { alternativesName } from './union-alternatives.ts'

export type ComparableDocument = {
  document: Document
  /** Returns the original pointers for a pointer of the comparable document; several if parts were merged there. */
  originsOf(pointer: string): string[]
  /** Returns whether a schema was merged into others, so that its changes are found there. */
  isTaken(pointer: string): boolean
  /** Returns whether a $ref refers to a pointer. */
  isReferredTo(pointer: string): boolean
  /** The number of keywords and schemas that were visited. */
  steps: number
}

/**
 * Returns an equivalent document in a normal form, in which equal contracts look alike. Discriminators are expressed in
 * the schemas that they distinguish, as the service validates them, and each allOf is merged into its parent schema.
 */
export function comparableDocument(document: Document): ComparableDocument {
  const components = { schemas: {}, ...document.components }
  const told = copyOf(withDiscriminators(withoutSiblings({ ...document, components })))
  const targets = new Set(referencesOf(told))
  const { merge, finish, alternatives, originsOf, taken, steps } = schemaMerger(told, targets)
  const comparable = copyOf(told)
  let top = ''
  walkSchemas(told, (_, pointer) => {
    if (top !== '' && pointer.startsWith(`${top}/`)) return
    top = pointer
    put(comparable, pointer, merge(pointer))
  })
  Object.assign(comparable, { [alternativesName]: alternatives })
  finish(comparable)
  const isAtOrAbove = (pointer: string) => (other: string) => pointer === other || pointer.startsWith(`${other}/`)
  return {
    document: comparable,
    originsOf,
    isTaken: (pointer) => [...taken].some(isAtOrAbove(pointer)),
    isReferredTo: (pointer) => targets.has(pointer),
    steps: steps(),
  }
}

/** Returns a deep copy, so that no object occurs in two places: objects are identified by their place. */
const copyOf = <T>(value: T): T => JSON.parse(JSON.stringify(value))

/** Removes the siblings of a $ref, which OpenAPI 3.0 ignores (section 4.7.23), but keeps documentation keywords. */
const withoutSiblings = (document: Document): Document =>
  document.openapi.startsWith('3.0.')
    ? mapDocument(document, {
        schema: (schema) =>
          typeof schema.$ref === 'string'
            ? Object.fromEntries(Object.entries(schema).filter(([key]) => key === '$ref' || isText(key)))
            : schema,
      })
    : document

function referencesOf(document: Document): string[] {
  const references: string[] = []
  walkSchemas(document, ({ $ref, discriminator }) => {
    const { mapping = {} } = Object(discriminator) as { mapping?: Node }
    for (const reference of [$ref, ...Object.values(mapping)]) {
      if (typeof reference === 'string' && reference.startsWith('#/')) references.push(targetOf(reference))
    }
  })
  return references
}

function put(document: object, pointer: string, value: unknown): void {
  const keys = keysOf(pointer)
  const parent = resolve(document, pointer.slice(0, pointer.lastIndexOf('/'))) as Node
  parent[keys.at(-1) as string] = value
}
