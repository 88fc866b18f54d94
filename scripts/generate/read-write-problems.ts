import { ignoredKeyword } from '../../src/openapi/ignored-properties.ts'
import { type Schema, schemasIn } from '../../src/openapi/schema-keywords.ts'
import { join } from './json-pointer.ts'
import type { Document } from './openapi-document.ts'
import { discriminatorNames, ignoredNamesOf, inPlace, isMarked, propertiesOf } from './read-write-marks.ts'
import { type Node, walkSchemas } from './walk-document.ts'

/** Returns one line for each schema whose readOnly and writeOnly properties could not be served as it says. */
export function readWriteProblems(document: Document): string[] {
  const problems: string[] = []
  const ignoredNames = ignoredNamesOf(document, 'response')
  walkSchemas(document, (schema, pointer) => {
    if (Object.hasOwn(schema, ignoredKeyword)) {
      problems.push(`${join(pointer, ignoredKeyword)}: is what generated schemas say; give it another name`)
    }
    for (const [name, below] of Object.entries(propertiesOf(schema))) {
      if (!isMarked(document, below, 'readOnly') || !isMarked(document, below, 'writeOnly')) continue
      const place = join(pointer, 'properties', name)
      problems.push(`${place}: is readOnly and writeOnly, so that it is nowhere; take one of them off`)
    }
    for (const keyword of ['oneOf', 'anyOf']) {
      problems.push(
        ...unlikeAlternatives(document, ignoredNames, schema, keyword).map(
          (name) =>
            `${join(pointer, keyword)}: ${name} is writeOnly in one alternative and not in another, so that a reply ` +
            'could show what must not leave; describe it alike in each',
        ),
      )
    }
  })
  return problems
}

/** Returns the properties that are writeOnly in some alternatives of a schema, and described by others without that. */
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

/** The members by which a schema is reached that may be, or be a part of, the schema of a property. */
const ofProperties = ['properties', 'allOf', 'schemas']

/** Returns one line for each readOnly and writeOnly that has no effect, since it is not that of a property. */
export function ineffectiveMarks(document: Document): string[] {
  const lines: string[] = []
  walkSchemas(document, (schema, pointer, members) => {
    if (ofProperties.includes(members.at(-1) as string)) return
    for (const mark of ['readOnly', 'writeOnly'] as const) {
      if (isMarked(document, schema, mark)) lines.push(`${pointer}: ${mark} has no effect but on a property`)
    }
  })
  return lines
}

/** Returns one line for each bound of the number of properties that counts some which are otherwise ignored. */
export function countedMarks(document: Document): string[] {
  const lines: string[] = []
  const ignoredNames = { request: ignoredNamesOf(document, 'request'), response: ignoredNamesOf(document, 'response') }
  walkSchemas(document, (schema, pointer) => {
    const names = new Set([...ignoredNames.request(schema), ...ignoredNames.response(schema)])
    if (names.size === 0) return
    for (const keyword of ['minProperties', 'maxProperties']) {
      if (!Object.hasOwn(schema, keyword)) continue
      lines.push(`${join(pointer, keyword)}: counts ${[...names].join(', ')} where it is sent, though it is ignored`)
    }
  })
  return lines
}
