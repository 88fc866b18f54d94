import { join, keysOf, resolve } from './json-pointer.ts'
import type { Document } from './openapi-document.ts'
import { mapDocument, type Node, walkSchemas } from './walk-document.ts'

/** The pointer to the shared schemas of a document, with a trailing slash. */
export const schemaPrefix = '#/components/schemas/'

/**
 * Returns a bundled document in which each $ref of a schema refers to a schema of the components by name. A schema
 * elsewhere that is the target of a $ref, such as a part of another schema or of a response, is added to the
 * components.
 */
export function withSharedSchemas(document: Document): Document {
  const names = new Map<string, string>()
  const references = new Map<string, string>()
  const { schemas = {} } = (document.components ?? {}) as { schemas?: Record<string, Node> }
  const taken = new Set(Object.keys(schemas))
  function nameTarget({ $ref }: Node): void {
    if (typeof $ref !== 'string' || references.has($ref)) return
    const keys = keysOf($ref)
    const pointer = join('#', ...keys)
    const isNamed = keys.length === 3 && pointer.startsWith(schemaPrefix)
    const name = names.get(pointer) ?? (isNamed ? (keys[2] as string) : unusedName(taken, keys))
    names.set(pointer, name)
    references.set($ref, schemaPrefix + name)
  }

  walkSchemas(document, nameTarget)
  const renamed = mapDocument(document, {
    schema(schema) {
      const $ref = references.get(schema.$ref as string) ?? schema.$ref
      return $ref === schema.$ref ? schema : { ...schema, $ref }
    },
  })
  const moved = Array.from(names, ([pointer, name]) => [name, resolve(renamed, pointer)])
  if (moved.length === 0) return document
  const components = renamed.components as { schemas?: object } | undefined
  return {
    ...renamed,
    components: { ...components, schemas: { ...components?.schemas, ...Object.fromEntries(moved) } },
  }
}

/** Returns a name for the schema at these keys that no other schema has. */
export function unusedName(taken: Set<string>, keys: string[]): string {
  const base = keys
    .filter((key, index) => !(index === 0 && key === 'components') && !(index === 1 && key === 'schemas'))
    .join('.')
    .replace(/[^\w.-]/g, '_')
  let name = base
  for (let count = 2; taken.has(name); count++) name = `${base}-${count}`
  taken.add(name)
  return name
}

/** Returns the name of the shared schema that a $ref refers to. */
export const sharedName = ($ref: string): string => $ref.slice(schemaPrefix.length)
