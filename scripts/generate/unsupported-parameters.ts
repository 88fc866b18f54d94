import type { TextValue } from '../../src/openapi/routes.ts'
import type { Document, Endpoint, Located, Parameter } from './openapi-document.ts'
import { clashProblems } from './parameter-clashes.ts'
import { contentProblems } from './parameter-content.ts'
import { isSplit, parameterText } from './parameter-texts.ts'
import { isReadAlike, otherTypes, propertyNames, propertyTypes } from './property-types.ts'
import { segmentOf } from './router-paths.ts'
import { type JsonType, typesOf } from './schema-types.ts'

/** Returns one line for each parameter of an operation that could not be read as it says. */
export const parameterProblems = (document: Document, endpoint: Endpoint): string[] =>
  [
    ...endpoint.parameters.map((parameter) => ({ parameter, problems: ownProblems(document, endpoint, parameter) })),
    ...clashProblems(document, endpoint),
  ].flatMap(({ parameter: { pointer, name }, problems }) =>
    problems.map((problem) => `${pointer}: parameter ${name}: ${problem}`),
  )

function ownProblems(document: Document, { path }: Endpoint, parameter: Located<Parameter>): string[] {
  if ((parameter.in as string) === 'querystring') {
    return ['a whole query string is not read; describe each parameter with in: query']
  }
  const problems = contentProblems(document, parameter)
  if (problems.length > 0 || parameter.content !== undefined) return problems
  const value = parameterText(document, path, parameter)
  return [
    ...styleProblems(document, parameter, value),
    ...(value.kind === 'array' ? itemProblems(document, parameter) : []),
    ...(value.kind === 'object' ? propertyProblems(document, parameter, value) : []),
    ...(isSplit(parameter, value) && segmentOf(path, parameter.name) === undefined
      ? ['is split, so it must end its segment of the path, and be the only one there; put a / before and behind it']
      : []),
  ]
}

/** The styles of each place (OpenAPI 3.1 section 4.8.12.3). */
const styles = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
}

/** The kinds that have no other style than form for what they are ("n/a" in section 4.8.12.6). */
const delimited = ['spaceDelimited', 'pipeDelimited']

function styleProblems(
  document: Document,
  { in: place, explode, allowEmptyValue, schema }: Parameter,
  value: TextValue,
) {
  const { style, kind, types, properties = {} } = value
  if (!styles[place].includes(style))
    return [`style ${style} is not read in ${place}; use ${styles[place].join(' or ')}`]
  const problems = []
  if (style === 'deepObject') {
    if (kind !== 'object') problems.push('style deepObject is of objects; use form')
    if (explode === false) problems.push('style deepObject is always exploded; leave explode out')
  }
  if (delimited.includes(style)) {
    if (kind === 'scalar') problems.push(`style ${style} is of lists and objects; use form`)
    if (explode === true) problems.push(`style ${style} is not exploded; leave explode out, or use form`)
  }
  const inside = [...types, ...Object.values(properties).flat()]
  if (style === 'label' && kind !== 'scalar' && value.explode && inside.includes('number')) {
    problems.push('a number would end at its point in style label; use explode: false')
  }
  const isEmptyText = [types, typesOf(document, schema).types].some((all) => all.length === 0 || takesEmpty(all))
  if (allowEmptyValue === true && place === 'query' && kind !== 'object' && !isEmptyText) {
    problems.push(`an empty value is no ${types.join(' or ')}; add the type 'null', or leave allowEmptyValue out`)
  }
  return problems
}

const takesEmpty = (types: readonly string[]): boolean => types.includes('string') || types.includes('null')

const useContent = 'describe it by content with application/json'

const isNested = (types: JsonType[]): boolean => types.some((type) => type === 'object' || type === 'array')

const itemProblems = (document: Document, { schema }: Parameter): string[] =>
  isNested(typesOf(document, schema).items) ? [`a list of objects or lists has no style; ${useContent}`] : []

function propertyProblems(document: Document, { schema }: Parameter, { style }: TextValue): string[] {
  const problems = []
  const { types } = typesOf(document, schema)
  if (types.some((type) => type !== 'object' && type !== 'null')) {
    problems.push(`is an object or another type, which no style tells apart; ${useContent}`)
  }
  const named = propertyNames(document, schema).map((name) => ({
    what: `property ${name}`,
    all: propertyTypes(document, schema, name),
  }))
  for (const { what, all } of [...named, { what: 'a property that is not named', all: otherTypes(document, schema) }]) {
    if (all.some(isNested)) problems.push(`${what} is an object or a list, which has no style; ${useContent}`)
    else if (!isReadAlike(all)) problems.push(`${what} has several types that no style tells apart; ${useContent}`)
  }
  if (style === 'deepObject') {
    const bracketed = named.filter(({ what }) => /[[\]]/.test(what))
    problems.push(...bracketed.map(({ what }) => `${what} has a bracket, which ends a name in deepObject; rename it`))
  }
  return problems
}
