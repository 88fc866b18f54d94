import { ignoredKeyword } from '../../serve/exact-keywords.ts'
import { type Schema, schemasIn } from '../../serve/schema-keywords.ts'
import { discriminatorNames, ignoredNamesOf, inPlace, isMarked, propertiesOf } from '../document/directions.ts'
import { join } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import { type Node, walkSchemas } from '../document/walk-document.ts'

/** Returns one line for each schema whose readOnly or writeOnly properties cannot be served as the document says. */
export function readWriteProblems(document: Document): string[] {
  const problems: string[] = []
  const ignoredNames = ignoredNamesOf(document, 'response')
  walkSchemas(document, (schema, pointer) => {
    if (Object.hasOwn(schema, ignoredKeyword)) {
      problems.push(`${join(pointer, ignoredKeyword)}: is reserved for generated schemas; rename it`)
    }
    for (const [name, below] of Object.entries(propertiesOf(schema))) {
      if (!isMarked(document, below, 'readOnly') || !isMarked(document, below, 'writeOnly')) continue
      const place = join(pointer, 'properties', name)
      problems.push(
        `${place}: is both readOnly and writeOnly, so neither a request nor a response can hold it; remove one of them`,
      )
    }
    for (const keyword of ['oneOf', 'anyOf']) {
      problems.push(
        ...unlikeAlternatives(document, ignoredNames, schema, keyword).map(
          (name) =>
            `${join(pointer, keyword)}: ${name} is writeOnly in one alternative and not in another, so a response ` +
            'could expose it; describe it the same way in each',
        ),
      )
    }
  })
  return problems
}

/** Returns the properties that are writeOnly in some alternatives of a schema and not in others that name them. */
function unlikeAlternatives(
  document: Document,
  ignoredNames: (schema: Schema) => Set<string>,
  schema: Node,
  keyword: string,
): string[] {
  const branches = schemasIn(schema, keyword)
  const hidden = branches.map(ignoredNames)
  if (hidden.every((names) => names.size === 0)) return []
  const settled = new Set([...ignoredNames(schema), ...discriminatorNames(inPlace(document, schema))])
  const shown = branches.map((branch) => inPlace(document, branch).flatMap((part) => Object.keys(propertiesOf(part))))
  const names = new Set(hidden.flatMap((each) => [...each]))
  return [...names].filter(
    (name) => !settled.has(name) && shown.some((each, index) => each.includes(name) && !hidden[index]?.has(name)),
  )
}

/** The members whose schemas may be the schema of a property, or a part of it. */
const ofProperties = ['properties', 'allOf', 'schemas']

/** Returns one line for each readOnly or writeOnly that has no effect because its schema is not that of a property. */
export function ineffectiveMarkWarnings(document: Document): string[] {
  const lines: string[] = []
  walkSchemas(document, (schema, pointer, members) => {
    if (ofProperties.includes(members.at(-1) as string)) return
    for (const mark of ['readOnly', 'writeOnly'] as const) {
      if (isMarked(document, schema, mark)) lines.push(`${pointer}: ${mark} has no effect here; set it on a property`)
    }
  })
  return lines
}

/** Returns one line for each minProperties or maxProperties that counts properties which are ignored otherwise. */
export function countedPropertyWarnings(document: Document): string[] {
  const lines: string[] = []
  const ignoredNames = { request: ignoredNamesOf(document, 'request'), response: ignoredNamesOf(document, 'response') }
  walkSchemas(document, (schema, pointer) => {
    const names = new Set([...ignoredNames.request(schema), ...ignoredNames.response(schema)])
    if (names.size === 0) return
    for (const keyword of ['minProperties', 'maxProperties']) {
      if (!Object.hasOwn(schema, keyword)) continue
      lines.push(
        `${join(pointer, keyword)}: counts ${[...names].join(', ')} when it is sent, although the service ignores it`,
      )
    }
  })
  return lines
}
