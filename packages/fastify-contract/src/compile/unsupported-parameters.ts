import type { TextValue } from '../serve/routes.ts'
import type { Document, Endpoint, Located, Parameter } from './openapi-document.ts'
import { conflictProblems } from './parameter-conflicts.ts'
import { contentProblems } from './parameter-content.ts'
import { isSplit, parameterText } from './parameter-texts.ts'
import { isReadAlike, otherTypes, propertyNames, propertyTypes } from './property-types.ts'
import { type JsonType, typesOf } from './schema-types.ts'
import { segmentOf } from './served-paths.ts'

/** Returns one line for each parameter of an operation that the service cannot parse as described. */
export const parameterProblems = (document: Document, endpoint: Endpoint): string[] =>
  [
    ...endpoint.parameters.map((parameter) => ({ parameter, problems: ownProblems(document, endpoint, parameter) })),
    ...conflictProblems(document, endpoint),
  ].flatMap(({ parameter: { pointer, name }, problems }) =>
    problems.map((problem) => `${pointer}: parameter ${name}: ${problem}`),
  )

function ownProblems(document: Document, { path }: Endpoint, parameter: Located<Parameter>): string[] {
  if ((parameter.in as string) === 'querystring') {
    return ['a parameter for the whole query string is not supported; describe each parameter with in: query']
  }
  const problems = contentProblems(document, parameter)
  if (problems.length > 0 || parameter.content !== undefined) return problems
  const value = parameterText(document, path, parameter)
  return [
    ...styleProblems(document, parameter, value),
    ...(value.kind === 'array' ? itemProblems(document, parameter) : []),
    ...(value.kind === 'object' ? propertyProblems(document, parameter, value) : []),
    ...(isSplit(parameter, value) && segmentOf(path, parameter.name) === undefined
      ? [
          'is split into several values, so it must be the only parameter in its path segment, at its end; put a / before and after it',
        ]
      : []),
  ]
}

/** The styles for each location of parameters (OpenAPI 3.1 section 4.8.12.3). */
const styles = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
}

/** Styles that OpenAPI defines only for arrays and objects that are not exploded ("n/a" in section 4.8.12.6). */
const delimited = ['spaceDelimited', 'pipeDelimited']

function styleProblems(
  document: Document,
  { in: place, explode, allowEmptyValue, schema }: Parameter,
  value: TextValue,
) {
  const { style, kind, types, properties = {} } = value
  if (!styles[place].includes(style))
    return [`style ${style} is not supported in ${place}; use ${styles[place].join(' or ')}`]
  const problems = []
  if (style === 'deepObject') {
    if (kind !== 'object') problems.push('style deepObject requires an object; use form')
    if (explode === false) problems.push('style deepObject is always exploded; remove explode')
  }
  if (delimited.includes(style)) {
    if (kind === 'scalar') problems.push(`style ${style} requires an array or an object; use form`)
    if (explode === true) problems.push(`style ${style} cannot be exploded; remove explode, or use form`)
  }
  const inside = [...types, ...Object.values(properties).flat()]
  if (style === 'label' && kind !== 'scalar' && value.explode && inside.includes('number')) {
    problems.push('style label would split a number at its decimal point; use explode: false')
  }
  const acceptsEmptyText = [types, typesOf(document, schema).types].some((all) => all.length === 0 || takesEmpty(all))
  if (allowEmptyValue === true && place === 'query' && kind !== 'object' && !acceptsEmptyText) {
    problems.push(`an empty value is not of type ${types.join(' or ')}; add the type 'null', or remove allowEmptyValue`)
  }
  return problems
}

const takesEmpty = (types: readonly string[]): boolean => types.includes('string') || types.includes('null')

const useContent = 'describe it by content with application/json'

const isNested = (types: JsonType[]): boolean => types.some((type) => type === 'object' || type === 'array')

const itemProblems = (document: Document, { schema }: Parameter): string[] =>
  isNested(typesOf(document, schema).items) ? [`no style can write an array of objects or arrays; ${useContent}`] : []

function propertyProblems(document: Document, { schema }: Parameter, { style }: TextValue): string[] {
  const problems = []
  const { types } = typesOf(document, schema)
  if (types.some((type) => type !== 'object' && type !== 'null')) {
    problems.push(`may be an object or another type, which no style can distinguish; ${useContent}`)
  }
  const named = propertyNames(document, schema).map((name) => ({
    what: `property ${name}`,
    all: propertyTypes(document, schema, name),
  }))
  for (const { what, all } of [
    ...named,
    { what: 'a property that the schema does not name', all: otherTypes(document, schema) },
  ]) {
    if (all.some(isNested)) problems.push(`${what} is an object or an array, which no style can write; ${useContent}`)
    else if (!isReadAlike(all)) problems.push(`${what} has several types that no style can distinguish; ${useContent}`)
  }
  if (style === 'deepObject') {
    const bracketed = named.filter(({ what }) => /[[\]]/.test(what))
    problems.push(
      ...bracketed.map(({ what }) => `${what} contains a bracket, which ends a name in style deepObject; rename it`),
    )
  }
  return problems
}
