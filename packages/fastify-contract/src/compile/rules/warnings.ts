import { isRange } from '../../serve/media-types.ts'
import { callbackUrl } from '../../webhooks/runtime-expression.ts'
import { allowsOnlyStrings, checkedSchema, describesBytes, isChecked } from '../document/contents.ts'
import { undatedDeprecations } from '../document/deprecation.ts'
import { ignoredNamesOf, isMarked } from '../document/directions.ts'
import { join } from '../document/json-pointer.ts'
import { type Document, endpoints, outgoingItems } from '../document/openapi-document.ts'
import { growthOf, isSlow, maxSlowLength } from '../document/patterns.ts'
import { schemasDescribing } from '../document/schemas.ts'
import { neededScopes, securityScheme } from '../document/security-schemes.ts'
import { type Node, walkSchemas } from '../document/walk-document.ts'
import { pathPlace } from './unsupported-features.ts'

/** Returns one line for each place of a document that is served in a way that its author may not expect. */
export const warningsOf = (published: Document, upgraded: Document): string[] => [
  ...derivedNameWarnings(upgraded),
  ...undeclaredScopes(upgraded),
  ...unvalidatedBodies(upgraded),
  ...unvalidatedResponses(upgraded),
  ...ineffectiveNullables(published),
  ...ineffectiveMarkWarnings(upgraded),
  ...countedPropertyWarnings(upgraded),
  ...slowPatternWarnings(upgraded),
  ...undatedDeprecations(upgraded),
  ...expressionWarnings(upgraded),
]

/** Returns one line for each operation without operationId, whose handler therefore has a derived name. */
export const derivedNameWarnings = (document: Document): string[] =>
  endpoints(document)
    .filter(({ hasDerivedId }) => hasDerivedId)
    .map(
      (endpoint) =>
        `${pathPlace(endpoint)}: has no operationId; its handler is named ${endpoint.operationId}, after its method and path`,
    )

/** Returns one line for each scope of an oauth2 scheme that none of its flows declares: no client could get it. */
export function undeclaredScopes(document: Document): string[] {
  return neededScopes(document).flatMap(({ pointer, scheme, scope }) => {
    const { flows } = securityScheme(document, scheme)
    if (flows === undefined) return []
    const isDeclared = Object.values(Object(flows)).some((flow) => Object.hasOwn(Object(Object(flow).scopes), scope))
    return isDeclared
      ? []
      : [`${pointer}: scope ${scope} is not declared in any flow of ${scheme}; add it there, or correct it here`]
  })
}
/** Returns one line for each media type of a request body whose schema constrains more than the service validates. */
export function unvalidatedBodies(document: Document): string[] {
  const lines = endpoints(document).flatMap(
    ({ requestBody: { content = {}, pointer } = { content: {}, pointer: '' } }) =>
      Object.entries(content)
        .filter(([mediaType, { schema }]) => !isRange(mediaType) && !isChecked(document, mediaType, schema))
        .filter(([, { schema }]) => !describesBytes(document, schema))
        .map(([mediaType]) => `${join(pointer, 'content', mediaType)}: is not validated against its schema`),
  )
  return [...new Set(lines)]
}

/** Returns one line for each media type of a response whose schema constrains more than the service validates. */
function unvalidatedResponses(document: Document): string[] {
  const lines = endpoints(document).flatMap(({ responses }) =>
    Object.values(responses).flatMap(({ content = {}, pointer }) =>
      Object.entries(content)
        .filter(([mediaType, { schema = true }]) => {
          if (checkedSchema(document, mediaType, schema) !== true) return false
          const isFree = schemasDescribing(document, [schema], []).every((each) => Object.keys(each).length === 0)
          return !isFree && !allowsOnlyStrings(document, schema)
        })
        .map(([mediaType]) => `${join(pointer, 'content', mediaType)}: is not validated against its schema`),
    ),
  )
  return [...new Set(lines)]
}

/**
 * Returns one line for each `nullable: true` of an OpenAPI 3.0 document that does not allow null, because its schema
 * has no type (3.0.3, "Clarify the semantics of nullable"). Each line says what to write instead.
 */
export function ineffectiveNullables(document: Document): string[] {
  const lines: string[] = []
  if (!document.openapi.startsWith('3.0.')) return lines
  walkSchemas(document, (schema, pointer) => {
    if (schema.nullable !== true || typeof schema.type === 'string') return
    lines.push(`${pointer}: nullable has no effect without a type in the same schema; ${remedyFor(schema)}`)
  })
  return lines
}

/** Returns what to write instead. In an allOf every schema must allow null, so a type beside it would not be enough. */
const remedyFor = (schema: Node): string =>
  ['$ref', 'allOf', 'anyOf', 'oneOf'].some((keyword) => Object.hasOwn(schema, keyword))
    ? 'to allow null, use anyOf with the schema and { type: object, nullable: true, enum: [null] }'
    : 'to allow null, add the type'

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

/** Returns a warning for each pattern that limits its text to `maxSlowLength` characters. */
export function slowPatternWarnings(document: Document): string[] {
  const warnings: string[] = []
  walkSchemas(document, (schema, pointer) => {
    const { pattern, patternProperties = {}, maxLength } = schema
    for (const key of Object.keys(patternProperties as object)) {
      if (growthOf(key) === 'linear') continue
      const place = join(pointer, 'patternProperties')
      warnings.push(`${place}: ${key} takes quadratic time; the names may have at most ${maxSlowLength} characters`)
    }
    if (maxLength !== undefined || !isSlow(schema)) return
    warnings.push(
      `${join(pointer, 'pattern')}: ${pattern} takes quadratic time; its text may have at most ${maxSlowLength} characters, unless you add a maxLength or rewrite it`,
    )
  })
  return warnings
}

/** Returns one line for each callback whose URL is not a runtime expression. */
export const expressionWarnings = (document: Document): string[] =>
  outgoingItems(document).flatMap(({ item, expression }) => {
    try {
      if (expression !== undefined) callbackUrl(expression)
      return []
    } catch (error) {
      return [`${item.pointer}: ${(error as Error).message}`]
    }
  })
