import type { CallStyles, CallTable, Int64Responses, ParameterStyle, ResponseSchemaNode } from 'fastify-contract/client'
import { type FormField, isOfTypes, kindOf, requestKindOf, type SerializedValue } from 'fastify-contract/contract'
import { formOf, isForm } from '../document/forms.ts'
import { type Document, endpoints, type MediaTypes, type Parameter } from '../document/openapi-document.ts'
import { defaultStyles, isJson, isWhole } from '../document/parameter-objects.ts'
import {
  int64Holders,
  isBigint,
  membersOf,
  run,
  type Steps,
  schemaKeys,
  schemasDescribing,
  unnamedSchemas,
} from '../document/schemas.ts'
import { hasNestedProperties, isExploded, serializedValue } from '../document/styled-values.ts'

/** Returns what the client needs to know of a document, without what is empty. */
export function clientTable(document: Document, responses: Int64Responses): CallTable {
  const parameters = callStyles(document)
  return {
    ...(responses.nodes.length > 0 && responses),
    ...(Object.keys(parameters).length > 0 && { parameters }),
  }
}

/**
 * Returns the nodes of int64 values in the JSON responses of a document.
 */
export function int64Responses(document: Document): Int64Responses {
  const table: Int64Responses = { nodes: [], responses: {} }
  const indexes = new Map<string, number>()
  const keyOf = schemaKeys()
  const holdsInt64 = int64Holders(document)
  for (const { method, path, responses } of endpoints(document)) {
    const operation = `${method} ${path}`
    const roots = Object.entries(responses).map(
      ([status, { content = {} }]) => [status, run(nodeOf(jsonSchemas(content)))] as const,
    )
    if (roots.some(([, root]) => root !== null)) table.responses[operation] = Object.fromEntries(roots)
  }
  return table

  /** Returns the index of the node that these schemas describe together, or null if it holds no int64. */
  function* nodeOf(holders: unknown[]): Steps<number | null> {
    const schemas = schemasDescribing(document, holders)
    if (!schemas.some((schema) => holdsInt64(schema))) return null
    // A schema may contain itself, so the same schemas share one node.
    const key = keyOf(schemas)
    const known = indexes.get(key)
    if (known !== undefined) return known
    const node: ResponseSchemaNode = {}
    const index = table.nodes.push(node) - 1
    indexes.set(key, index)
    if (schemas.some(isBigint)) node.int64 = true
    const members: [string, number | null][] = []
    for (const [member, below] of membersOf(schemas)) {
      members.push([member, yield nodeOf(below)])
    }
    const others = yield nodeOf(schemas.flatMap((schema) => unnamedSchemas(schema)))
    // A member without int64 is listed only if unnamed members hold one: the client would treat it as one of them.
    const told = members.filter(([, below]) => below !== null || others !== null)
    if (told.length > 0) node.members = Object.fromEntries(told)
    if (others !== null) node.others = others
    return index
  }
}

const jsonSchemas = (content: MediaTypes): unknown[] =>
  Object.entries(content).flatMap(([type, { schema }]) => (kindOf(type) === 'json' ? [schema] : []))

/** Returns the style of a parameter as far as it differs from the default of its location. */
export function parameterStyle(document: Document, parameter: Parameter): ParameterStyle {
  if (isWhole(parameter)) {
    const { form = {} } = formStyles(document, parameter.content as MediaTypes)
    return isJson(parameter) ? { isJson: true, isWhole: true } : { isWhole: true, fields: form }
  }
  const usual = defaultStyles[parameter.in]
  if (parameter.content !== undefined) return isJson(parameter) ? { isJson: true } : {}
  const { schema, style = usual, explode = isExploded(style) } = parameter
  if (hasNestedProperties(document, schema, { style, explode })) return { style: 'deepObject' }
  return {
    ...(style !== usual && { style }),
    ...(explode !== isExploded(style) && { explode }),
    ...emptyList(serializedValue(document, { ...parameter, style, explode })),
  }
}

/** Returns the flag of a list whose empty text the service reads as an empty list, and as nothing else. */
const emptyList = ({ isPlain, scalarTypes = [] }: SerializedValue): ParameterStyle =>
  isPlain && !isOfTypes('', scalarTypes) ? { isPlain } : {}

/**
 * Returns the styles of the parameters and form fields of a document that differ from the defaults of their locations;
 * the client needs them to write requests.
 */
export function callStyles(document: Document, all = endpoints(document)): CallStyles {
  const operations = all.flatMap(({ method, path, parameters, requestBody }) => {
    const styles: CallStyles[string] = { ...(requestBody && formStyles(document, requestBody.content)) }
    for (const parameter of parameters) {
      const style = parameterStyle(document, parameter)
      if (parameter.in === 'cookie' || Object.keys(style).length === 0) continue
      const { in: location, name } = parameter
      styles[location] = Object.fromEntries([...Object.entries(styles[location] ?? {}), [name, style]])
    }
    return Object.keys(styles).length === 0 ? [] : [[`${method} ${path}`, styles] as const]
  })
  return Object.fromEntries(operations)
}

/** The styles of form fields, by the kind of form and by name. */
type FormStyles = Partial<Record<'form' | 'multipart', Record<string, ParameterStyle>>>

/** Returns the styles of the form fields that differ from the default for their values. */
export function formStyles(document: Document, content: MediaTypes): FormStyles {
  const forms = Object.entries(content).flatMap(([mediaType, media]) => {
    if (!isForm(mediaType)) return []
    const { fields } = formOf(document, mediaType, media)
    const styles = fields.flatMap((field): [string, ParameterStyle][] => {
      const style = styleOf(field)
      return Object.keys(style).length === 0 ? [] : [[field.name, style]]
    })
    return styles.length === 0 ? [] : [[requestKindOf(mediaType), Object.fromEntries(styles)]]
  })
  return Object.fromEntries(forms)
}

/**
 * Returns the style of a field: objects are JSON by default, and a part names its media type unless it is a usual one.
 */
function styleOf(field: FormField): ParameterStyle {
  const { kind, style, explode, part } = field
  const [mediaType = ''] = part?.isFile ? [] : (part?.mediaTypes ?? [])
  const named = ['', 'text/plain', 'application/json'].includes(mediaType) ? {} : { mediaType }
  if (kind === 'json') return { isJson: true, ...named }
  if (part !== undefined || kind === 'scalar') return named
  const isUsual = kind !== 'object' && style === 'form'
  return {
    ...(!isUsual && { style }),
    ...(explode !== isExploded(style) && { explode }),
    ...emptyList(field),
  }
}
