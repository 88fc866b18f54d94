import type { ParameterText, TextValue } from '../serve/routes.ts'
import type { Schema } from '../serve/schema-keywords.ts'
import type { Document, Parameter } from './openapi-document.ts'
import { isJson, schemaOf } from './parameter-content.ts'
import { isOpen, otherTypes, propertyNames, propertyTypes } from './property-types.ts'
import { partsOf } from './schema-parts.ts'
import { typesOf } from './schema-types.ts'
import { routerNames, segmentOf } from './served-paths.ts'

/** A value that is written in an OpenAPI style: a parameter, or a field of a form. */
export type Styled = { name: string; schema?: Schema; style: string; explode?: boolean }

/** Returns the default of explode for a style. */
export const isExploded = (style: string): boolean => style === 'form' || style === 'deepObject'

/** Returns the description of how the service parses a value from text. */
export function textValue(document: Document, { name, schema, style, explode = isExploded(style) }: Styled): TextValue {
  const { types, items } = typesOf(document, schema)
  const text = { name, key: name, style, explode } as Pick<TextValue, 'name' | 'key' | 'style' | 'explode'>
  if (!types.includes('object')) {
    const isArray = types.includes('array')
    return { ...text, kind: isArray ? 'array' : 'scalar', types: isArray ? items : types }
  }
  const properties = propertyNames(document, schema).map((name) => [
    name,
    [...new Set(propertyTypes(document, schema, name).flat())],
  ])
  return {
    ...text,
    kind: 'object',
    types: [...new Set(otherTypes(document, schema).flat())],
    properties: Object.fromEntries(properties),
    ...(style === 'form' && explode && isOpen(document, schema) && { takesAll: true }),
  }
}

/** The default style for each location of parameters (OpenAPI 3.1 section 4.8.12.2.1). */
export const defaultStyles = { path: 'simple', query: 'form', header: 'simple', cookie: 'form' } as const

/** Returns the description of how the service reads a parameter from a request. */
export function parameterText(document: Document, path: string, parameter: Parameter): ParameterText {
  const { in: place, name } = parameter
  const keys = { path: routerNames(path).get(name), header: name.toLowerCase(), query: name, cookie: name }
  const value = parameterValue(document, parameter)
  const segment = isSplit(parameter, value) ? segmentOf(path, name) : undefined
  return {
    in: place,
    ...value,
    key: keys[place] as string,
    ...(segment && { segment }),
    ...defaultOf(document, parameter),
  }
}

/** Returns whether a parameter must be split before it is percent-decoded, which the router cannot do. */
export const isSplit = ({ in: place }: Parameter, { style, kind }: TextValue): boolean =>
  place === 'path' && (style === 'label' || style === 'matrix' || kind === 'array' || kind === 'object')

function parameterValue(document: Document, parameter: Parameter): TextValue {
  const style = defaultStyles[parameter.in]
  if (parameter.content === undefined) return textValue(document, { style, ...parameter })
  const text = textValue(document, { name: parameter.name, style })
  return isJson(parameter) ? { ...text, kind: 'json' } : { ...text, types: ['string'] }
}

/** Returns the default that applies if a parameter is absent: that of its own schema, also through a $ref. */
export function defaultOf(document: Document, parameter: Parameter): { default?: unknown } {
  if (parameter.required || parameter.in === 'path') return {}
  const own = partsOf(document, schemaOf(parameter)).filter(({ isOwn }) => isOwn)
  const holder = own.find(({ schema }) => schema.default !== undefined)
  return holder === undefined ? {} : { default: holder.schema.default }
}
