import { kindOf, type Schema } from 'fastify-contract/contract'
import { parseExactJson, stringifyJson } from 'fastify-contract/json'
import { withOptionalHeaders } from '../document/contents.ts'
import { type FormProperty, formProperties, isFile, mediaTypesOf, openPart, partSchema } from '../document/forms.ts'
import { join, keysOf } from '../document/json-pointer.ts'
import {
  type Document,
  type Endpoint,
  endpoints,
  isIgnored,
  type MediaType,
  operationsIn,
  outgoingEndpoints,
  outgoingItems,
  type Parameter,
  resolved,
} from '../document/openapi-document.ts'
import { withSchema } from '../document/parameter-objects.ts'
import { schemasDescribing } from '../document/schemas.ts'
import {
  type Kind,
  mapDocument,
  mapEntries,
  mapHeld,
  mapTree,
  methods,
  type Node,
  withoutKeys,
} from '../document/walk-document.ts'
import { typeNames } from '../text/type-name.ts'
import { type Fact, type Facts, printTypes, webhookQuery } from '../typescript/print-types.ts'
import { fileFormat } from '../typescript/schema-types.ts'
import { asObject, typedSchema } from './typed-schemas.ts'

/**
 * Returns the types of a document with shared schemas as openapi-typescript writes them, adapted to what a handler
 * receives: an int64 is a bigint, since a double cannot hold every 64-bit integer; a file of a form is a Blob; keywords
 * beside a $ref apply; a property with a default is optional, since the service fills in the defaults of parameters
 * only. `operations` holds the served operations. `webhooks` holds what the service itself sends: webhooks, and each
 * callback under its operationId and name.
 */
export function contractTypes(document: Document): string {
  try {
    return typesOf(document)
  } catch (error) {
    // openapi-typescript decodes names, and throws for a percent sign that does not begin a percent-encoding.
    if (!(error instanceof URIError)) throw error
    const mark = unusedText(String(stringifyJson(document)), 'percent-')
    return typesOf(withoutPercentSigns(document, mark)).replaceAll(mark, '%')
  }
}

/** Returns a document in which a mark stands for each percent sign, except for those that encode the text of a $ref. */
function withoutPercentSigns(document: Document, mark: string): Document {
  const marked = (text: string) => text.replaceAll('%', mark)
  let whole = ''
  for (const text of String(stringifyJson(document)).split(/("\$ref":"(?:[^"\\]|\\.)*")/)) {
    const { $ref } = text.startsWith('"$ref":"') ? JSON.parse(`{${text}}`) : {}
    whole += $ref === undefined ? marked(text) : `"$ref":${JSON.stringify(join('#', ...keysOf($ref).map(marked)))}`
  }
  return parseExactJson(whole) as Document
}

/** Returns a text that another text does not contain. */
const unusedText = (text: string, begin: string): string =>
  text.includes(begin) ? unusedText(text, `${begin}-`) : begin

function typesOf(document: Document): string {
  const names = operationNames(document)
  const text = printTypes(typed(withTypedForms(document), names), factsOf(document, names))
  return text.replace(names.pattern, (_, index) => JSON.stringify(names.ids[index]))
}

/** The operationIds of a document, and a RegExp for the texts that stand for them in the printed types. */
type OperationNames = { ids: string[]; standIn: (id: unknown) => string; pattern: RegExp }

/**
 * Returns names for the operations that openapi-typescript does not change: it writes a # in an operationId as a slash,
 * and decodes percent-encoded characters where it refers to the operation.
 */
function operationNames(document: Document): OperationNames {
  const ids = endpoints(document).map(({ operationId }) => operationId)
  const text = /^[\w.-]*$/.test(ids.join('')) ? '' : String(stringifyJson(document))
  const prefix = unusedText(text, 'operation-')
  const indexes = new Map<string, number>()
  for (const [index, id] of ids.entries()) indexes.set(id, index)
  return {
    ids,
    standIn: (id) => (text === '' ? (id as string) : `${prefix}${indexes.get(id as string)}`),
    pattern: text === '' ? /(?!)/ : new RegExp(`"${prefix}(\\d+)"`, 'g'),
  }
}

type NamedItem = [name: string, item: Node]

/** Returns the parts of a document that get types, with path items inlined. Only served operations keep their ids. */
function typed(document: Document, names: OperationNames): object {
  const { info, paths = {}, components = {} } = document
  const { pathItems: _, securitySchemes: __, links: ___, ...others } = components as Record<string, object>
  const items: NamedItem[] = []
  for (const [name, item] of Object.entries(paths as Record<string, { $ref?: string }>))
    if (!name.startsWith('x-')) items.push(...withAdditional(name, resolved<Node>(document, item)))
  const sent: NamedItem[] = []
  for (const { name, item } of outgoingItems(document)) {
    const [own, ...others] = withAdditional(name, withoutKeys(item, ['pointer']))
    sent.push(own)
    for (const [key, { post, ...rest }] of others)
      if (key === `QUERY ${name}`)
        items.push([webhookQuery(name), { ...rest, post: withoutKeys(post as Node, ['operationId']) }])
  }
  const whole = {
    openapi: '3.1.0',
    info: { title: info.title, version: info.version },
    paths: Object.fromEntries(items),
    components: mapEntries(others, (held, kind) => withoutAliases(document, kind, held as Node)),
    ...(sent.length > 0 && { webhooks: withoutIds(Object.fromEntries(sent)) }),
  }
  const withParameters = (node: Node) => withoutIgnored(document, node)
  return mapDocument(withCopies(document, whole), {
    pathItem: withParameters,
    operation: ({ operationId, ...node }) =>
      withParameters({ ...node, ...(operationId !== undefined && { operationId: names.standIn(operationId) }) }),
    parameter: (parameter) => withTypedSchema(withSchema(parameter)),
    header: withTypedSchema,
    // openapi-typescript would follow references that are not types, even to other hosts.
    example: (example) => withoutKeys(example, ['externalValue']),
    response: (response) => withOptionalHeaders(document, withoutKeys(response, ['links'])),
    schema: (schema) => typedSchema(document, schema),
    mediaType: withTypedSchema,
    components: (components) => mapHeld(components, 'schemas', asObject),
  })
}

/** Components that openapi-typescript writes as empty if they are a $ref to another one. */
const aliased = ['responses', 'parameters', 'requestBodies', 'headers']

const withoutAliases = (document: Document, kind: string, held: Node): Node =>
  aliased.includes(kind) ? mapEntries(held, (one) => withoutKeys(resolved(document, one as Node), ['pointer'])) : held

/**
 * Copies what a $ref refers to outside of the components that openapi-typescript writes, such as a response of a path
 * item of the components.
 */
function withCopies<Whole extends object>(document: Document, whole: Whole): Whole {
  const isWritten = ($ref: unknown) => aliased.some((kind) => String($ref).startsWith(`#/components/${kind}/`))
  const copy = (kind: Kind) => (node: Node) => {
    if (typeof node.$ref !== 'string' || isWritten(node.$ref)) return node
    return mapTree(withoutKeys(resolved(document, node), ['pointer']), kind, copies)
  }
  const copies = { response: copy('response'), parameter: copy('parameter'), requestBody: copy('requestBody') }
  return mapDocument(whole, copies)
}

/** Writes a boolean schema of a value as an object, since openapi-typescript ignores `false`. */
const withTypedSchema = (holder: Node): Node =>
  typeof holder.schema === 'boolean' ? { ...holder, schema: asObject(holder.schema) } : holder

const withoutIds = (webhooks: Record<string, Node>): object => {
  const { webhooks: nameless } = mapDocument({ webhooks }, { operation: (one) => withoutKeys(one, ['operationId']) })
  return nameless
}

function withoutIgnored(document: Document, node: Node): Node {
  if (!Array.isArray(node.parameters)) return node
  return { ...node, parameters: node.parameters.filter((one) => !isIgnored(resolved<Parameter>(document, one))) }
}

/** The methods that openapi-typescript knows: it supports OpenAPI 3.1, which has no `query`. */
const known = methods.filter((method) => method !== 'query')

/**
 * Returns a path item, and one more item for each operation whose method openapi-typescript does not know. Such an item
 * has a name that is not a path and holds the operation as a POST, so that openapi-typescript writes its types;
 * `printTypes` removes them from `paths`, and adds those of QUERY to their paths.
 */
function withAdditional(path: string, item: Node): [NamedItem, ...NamedItem[]] {
  const { query, additionalOperations = {}, ...rest } = item
  const { parameters } = rest
  const items: ReturnType<typeof withAdditional> = [[path, rest]]
  for (const { method, keys } of operationsIn(item)) {
    if (known.includes(keys[0] as string)) continue
    const post = (additionalOperations as Node)[method] ?? query
    items.push([`${method} ${path}`, { ...(parameters !== undefined && { parameters }), post }])
  }
  return items
}

/**
 * Returns what the types of operations say beside what openapi-typescript writes. `kinds` has the kinds of the media types
 * other than JSON.
 */
function factsOf(document: Document, { standIn }: OperationNames): Facts {
  const operations: Facts['operations'] = new Map()
  const all = endpoints(document)
  const names = typeNames(all.map(({ operationId }) => operationId))
  for (const each of all)
    operations.set(standIn(each.operationId), {
      typeName: names.get(each.operationId) as string,
      facts: [kindsOf(each)],
    })
  const webhooks: Facts['webhooks'] = new Map()
  for (const each of outgoingEndpoints(document))
    webhooks.set(`${each.operationId} ${each.method.toLowerCase()}`, [kindsOf(each)])
  return { operations, webhooks }
}

function kindsOf({ requestBody, responses }: Endpoint): Fact {
  const kinds = new Map<string, string[]>()
  for (const holder of [requestBody, ...Object.values(responses)])
    for (const type of Object.keys(holder?.content ?? {})) if (kindOf(type) !== 'json') kinds.set(type, [kindOf(type)])
  return ['kinds', [...kinds]]
}

/**
 * Returns a document in which each multipart form is an object with the properties that parts have, and each file is a
 * string with the format `fileFormat`. A handler receives the parts one by one; a client sends them together.
 */
const withTypedForms = (document: Document): Document =>
  mapDocument(document, {
    requestBody: (node) =>
      mapHeld(node, 'content', (media, mediaType) =>
        kindOf(mediaType) === 'multipart'
          ? { ...Object(media), schema: typedForm(document, media as MediaType) }
          : media,
      ),
  })

function typedForm(document: Document, media: MediaType): Node {
  const typeOf = ({ schema, encoding }: FormProperty): Schema => {
    const { isItem, schema: each } = partSchema(document, schema)
    if (!isFile(document, each, mediaTypesOf(encoding))) return schema
    const file: Schema = { type: 'string', format: fileFormat }
    return isItem ? { type: 'array', items: file } : file
  }
  const properties = new Map<string, Schema>()
  for (const property of formProperties(document, media)) properties.set(property.name, typeOf(property))
  const open = openPart(document, media)
  const required = new Set<string>()
  for (const part of schemasDescribing(document, [media.schema], ['allOf']))
    for (const name of (part.required ?? []) as string[]) if (properties.has(name)) required.add(name)
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: [...required],
    ...(open && { additionalProperties: typeOf(open) }),
  }
}
