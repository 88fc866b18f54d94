import type { Schema } from '../serve/schema-keywords.ts'
import { isMarked, propertiesOf } from './read-write-marks.ts'
import { sharedName } from './shared-schemas.ts'
import { isNode, type Node, walk } from './walk-document.ts'

/**
 * What a schema holds without following references: whether a property has the annotation, and the referenced names.
 */
type Content = { isMarking: boolean; references: string[] }

/**
 * Returns a function that tells whether a schema contains a property with an annotation, at any depth and through any
 * reference. Visits each shared schema once.
 */
export function reachingSchemas(
  document: object,
  schemas: Record<string, Schema>,
  mark: 'readOnly' | 'writeOnly',
): (schema: Schema) => boolean {
  const contents = Object.entries(schemas).map(([name, schema]) => ({ name, ...contentOf(schema) }))
  const holders = new Map<string, string[]>()
  for (const { name, references } of contents) {
    for (const reference of new Set(references)) {
      const known = holders.get(reference)
      if (known === undefined) holders.set(reference, [name])
      else known.push(name)
    }
  }
  const reaching = new Set(contents.flatMap(({ name, isMarking }) => (isMarking ? [name] : [])))
  // Iteration over a Set includes the elements that are added meanwhile.
  for (const name of reaching) for (const holder of holders.get(name) ?? []) reaching.add(holder)
  return (schema) => {
    const { isMarking, references } = contentOf(schema)
    return isMarking || references.some((name) => reaching.has(name))
  }

  function contentOf(schema: Schema): Content {
    const content: Content = { isMarking: false, references: [] }
    if (!isNode(schema)) return content
    walk(schema, 'schema', '#', (node: Node, kind) => {
      if (kind !== 'schema') return
      if (typeof node.$ref === 'string') content.references.push(sharedName(node.$ref))
      content.isMarking ||= Object.values(propertiesOf(node)).some((each) => isMarked(document, each, mark))
    })
    return content
  }
}
