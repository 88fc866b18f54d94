import { kindOf, type SerializedParameter, type SerializedValue } from 'fastify-contract/contract'
import { resolve } from '../document/json-pointer.ts'
import { charsetProblem } from '../document/media-type-names.ts'
import {
  type Document,
  type Endpoint,
  type Located,
  type Parameter,
  schemePointer,
  wholeStyle,
} from '../document/openapi-document.ts'
import { isSplit, segmentOf, serializedParameter } from '../document/parameter-objects.ts'
import { isReadAlike, otherTypes, propertyNames, propertyTypes, typesOf } from '../document/schemas.ts'
import { credentialOf } from '../document/security-schemes.ts'
import { isNested, nestedPlaces } from '../document/styled-values.ts'
import { delimited, styles } from './assumed-styles.ts'

/** A problem of a parameter, with advice if the service serves the parameter in spite of it. */
type Finding = {
  kind: 'unclear-parameter' | 'ambiguous-style' | 'conflicting-names'
  problem: string
  advice?: string
}

/** A problem of one of several parameters. */
type ParameterProblem = Finding & { parameter: Located<Parameter> }

/** A problem of a parameter beside another one. */
type Clash = Pick<Finding, 'problem' | 'advice'>

type Given = Pick<Endpoint, 'path' | 'parameters' | 'security'>

/** Returns the problems of some parameters, first those of each alone, and then the conflicts between them. */
export function parameterProblems(document: Document, given: Given): ParameterProblem[] {
  const own = given.parameters.flatMap((parameter) =>
    ownProblems(document, given.path, parameter).map((finding) => ({ parameter, ...finding })),
  )
  return [...own, ...conflicts(document, given)]
}

function ownProblems(document: Document, path: string, parameter: Located<Parameter>): Finding[] {
  if ((parameter.in as string) === 'querystring') {
    const problem = 'a parameter for the whole query string needs OpenAPI 3.2; describe each parameter with in: query'
    return [{ kind: 'unclear-parameter', problem }]
  }
  // Its content is that of a form or of a body, which body-rules.ts checks.
  if (parameter.style === wholeStyle) return []
  const problems = contentProblems(document, parameter)
  if (problems.length > 0 || parameter.content !== undefined)
    return problems.map((problem) => ({ kind: 'unclear-parameter', problem }))
  return valueProblems(document, path, parameter).map((problem) => ({ kind: 'ambiguous-style', problem }))
}

/** Returns why the values of a parameter cannot be read in its style. */
function valueProblems(document: Document, path: string, parameter: Located<Parameter>): string[] {
  const value = serializedParameter(document, path, parameter)
  return [
    ...styleProblems(parameter, value),
    ...(value.kind === 'array' ? itemProblems(document, parameter) : []),
    ...(value.kind === 'object' ? propertyProblems(document, parameter, value) : []),
    ...(value.kind === 'nested'
      ? nestedPlaces(document, parameter.schema).problems.map((problem) => `${problem}; ${useContent}`)
      : []),
    ...(isSplit(parameter, value) && segmentOf(path, parameter.name) === undefined
      ? [
          'is split into several values, so it must be the only parameter in its path segment, at its end; put a / before and after it',
        ]
      : []),
  ]
}

function styleProblems({ in: location, explode, style: given }: Parameter, value: SerializedValue) {
  const { style, kind, types, properties = {} } = value
  if (!styles[location].includes(style) && given !== style)
    return [`its style cannot write the objects or arrays in it; ${useContent}`]
  if (!styles[location].includes(style))
    return [`style ${style} is not supported in ${location}; use ${styles[location].join(' or ')}`]
  const problems = []
  if (style === 'deepObject' && explode === false) problems.push('style deepObject is always exploded; remove explode')
  if (delimited.includes(style)) {
    if (kind === 'scalar') problems.push(`style ${style} requires an array or an object; use form`)
    if (explode === true) problems.push(`style ${style} cannot be exploded; remove explode, or use form`)
  }
  const inside = [...types, ...Object.values(properties).flat()]
  if (style === 'label' && kind !== 'scalar' && value.explode && inside.includes('number')) {
    problems.push('style label would split a number at its decimal point; use explode: false')
  }
  return problems
}

/** The fix for a parameter whose value no style can write; a field of a form has a fix of its own. */
export const useContent = 'describe it by content with application/json'

/** Returns how to describe a value of a parameter that has members of members. */
const useNames = ({ in: location }: Parameter): string =>
  location === 'query' ? `use style deepObject, or ${useContent}` : useContent

const itemProblems = (document: Document, parameter: Parameter): string[] =>
  isNested(typesOf(document, parameter.schema).items)
    ? [`its style cannot write an array of objects or arrays; ${useNames(parameter)}`]
    : []

function propertyProblems(document: Document, parameter: Parameter, { scalarTypes }: SerializedValue): string[] {
  const { schema } = parameter
  const problems = []
  const { types } = typesOf(document, schema)
  if (scalarTypes === undefined && types.some((type) => type !== 'object' && type !== 'null')) {
    problems.push(`may be an object or another type, which its style cannot distinguish; ${useNames(parameter)}`)
  }
  const named = propertyNames(document, schema).map((name) => ({
    what: `property ${name}`,
    all: propertyTypes(document, schema, name),
  }))
  for (const { what, all } of [
    ...named,
    { what: 'a property that the schema does not name', all: otherTypes(document, schema) },
  ]) {
    if (all.some(isNested))
      problems.push(`${what} is an object or an array, which its style cannot write; ${useNames(parameter)}`)
    else if (!isReadAlike(all)) problems.push(`${what} has several types that no style can distinguish; ${useContent}`)
  }
  return problems
}

/** The names in one part of a request, such as its query, that a parameter or a credential is read from. */
type Claim = {
  what: string
  in: string
  names: string[]
  /** Whether the names are those of the properties of an object. */
  isObject?: boolean
  /** Whether the object accepts properties of any name. */
  acceptsAnyName?: true | undefined
  isCredential?: boolean
  /** Whether it is the whole query string. */
  isWhole?: boolean
  /** The prefix of the names of an object in style deepObject. */
  prefix?: string
  /** Whether each of the names has a single text, which another parameter may have, too. */
  isSingle?: boolean
}

/**
 * Returns the conflicts of each parameter of an operation. An object whose properties are sent under separate names
 * conflicts with every other parameter or credential of one of these names, unless all of them take the same text.
 */
function conflicts(document: Document, endpoint: Given): ParameterProblem[] {
  const claims = endpoint.parameters.map((parameter) =>
    claimOf(serializedParameter(document, endpoint.path, parameter)),
  )
  const all = [...claims, ...credentialClaims(document, endpoint)]
  const problems: ParameterProblem[] = []
  for (const [index, parameter] of endpoint.parameters.entries()) {
    const own = claims[index] as Claim
    for (const other of all) {
      if (other === own || other.in !== own.in) continue
      for (const clash of clashes(own, other)) problems.push({ parameter, kind: 'conflicting-names', ...clash })
    }
  }
  return problems
}

function claimOf({
  in: location,
  name,
  kind,
  style,
  explode,
  properties = {},
  acceptsAnyName,
  scalarTypes,
  whole,
}: SerializedParameter): Claim {
  const claim = { what: `parameter ${name}`, in: location }
  if (whole !== undefined) return { ...claim, names: [], isWhole: true }
  if (kind === 'nested') return { ...claim, names: [name], prefix: `${name}[` }
  if (kind !== 'object' || style !== 'form' || !explode) return { ...claim, names: [name], isSingle: kind === 'scalar' }
  return {
    ...claim,
    names: [...Object.keys(properties), ...(scalarTypes === undefined ? [] : [name])],
    isObject: true,
    acceptsAnyName,
    isSingle: true,
  }
}

function credentialClaims(document: Document, { security }: Pick<Endpoint, 'security'>): Claim[] {
  const claims: Claim[] = []
  for (const scheme of new Set(security.flatMap(Object.keys))) {
    if (resolve(document, schemePointer(scheme)) === undefined) continue
    const credential = credentialOf(document, scheme)
    if (credential === undefined) continue
    const { in: location, name } = credential
    claims.push({ what: `security scheme ${scheme}`, in: location, names: [name], isCredential: true })
  }
  return claims
}

function clashes(own: Claim, other: Claim): Clash[] {
  if (own.isWhole)
    return [{ problem: `is the whole query string, so ${other.what} cannot be beside it; remove one of them` }]
  if (other.isWhole) return []
  const given = other.isSingle === true && 'each receives the value'
  const finding = (start: string, remedy: string, assumed: string | false): Clash => ({
    problem: `${start}; ${remedy}`,
    ...(assumed !== false && { advice: `${start}; ${assumed}; ${remedy}` }),
  })
  if (own.acceptsAnyName && (other.acceptsAnyName || other.isCredential)) {
    const start = `its additionalProperties accept every name in the ${own.in}`
    const remedy = 'list its properties by name only, or use explode: false'
    const problem = `${start}, including that of ${other.what}; ${remedy}`
    const isNamed = other.acceptsAnyName || own.names.some((name) => other.names.includes(name))
    return [isNamed ? { problem } : { problem, advice: `${start}, but ${other.what} is left out; ${remedy}` }]
  }
  const found: Clash[] = []
  if (own.isObject) {
    for (const name of own.names) {
      if (!other.names.includes(name) && !isBelow(name, other)) continue
      const start = `its property ${name} has the same name as ${other.what}`
      found.push(finding(start, 'rename one of them, or use explode: false', given))
    }
    return found
  }
  for (const name of other.isObject ? [] : other.names) {
    if (!isBelow(name, own)) continue
    found.push(
      given
        ? finding(`${name} names both a property of it and ${other.what}`, 'rename one of them', given)
        : { problem: `${name} would name both a property of it and ${other.what}; rename one of them` },
    )
  }
  return found
}

const isBelow = (name: string, { prefix }: Claim): boolean =>
  prefix !== undefined && name.startsWith(prefix) && name.endsWith(']')

/** Returns the problems of the content of a parameter (OpenAPI 3.1 section 4.8.12.2.2). */
function contentProblems(document: Document, { content, schema }: Parameter): string[] {
  if (content === undefined) return schema === undefined ? ['has no schema; add one'] : []
  if (schema !== undefined) return ['has both schema and content; remove one of them']
  const [[mediaType, media] = ['', {}]] = Object.entries(content)
  const count = Object.keys(content).length
  if (count !== 1) return [`its content has ${count} media types; use exactly one`]
  const kind = kindOf(mediaType)
  if ((kind !== 'json' && kind !== 'text') || charsetProblem(mediaType, 'read') !== undefined) {
    return [`${mediaType} is not supported in a parameter; use application/json or text/plain`]
  }
  const { types } = typesOf(document, media.schema)
  const isString = kind === 'json' || types.length === 0 || types.includes('string')
  return isString ? [] : [`${mediaType} is read as a string, which its schema does not allow; use application/json`]
}
