import { kindOf, type Schema } from 'fastify-contract/contract'
import type { McpTable, OperationTool } from 'fastify-contract/mcp'
import { isIgnored } from 'fastify-contract/schema'
import { callStyles } from '../document/call-styles.ts'
import { join, resolve } from '../document/json-pointer.ts'
import { type Document, type Endpoint, endpoints, type Parameter } from '../document/openapi-document.ts'
import { schemaOf } from '../document/parameter-objects.ts'
import { isInt64, isInteger } from '../document/schemas.ts'
import { sharedName } from '../document/shared-schemas.ts'
import { mapTree, type Node } from '../document/walk-document.ts'
import { sendable } from '../rules/tool-rules.ts'
import { int64Responses } from './client-json.ts'

const isTool = (document: Document, { pointer }: Endpoint): boolean =>
  (resolve(document, pointer) as Node)['x-mcp'] === true

/** Returns the operations with `x-mcp: true` as tools; undefined if there are none. */
export function mcpTable(document: Document): McpTable | undefined {
  const chosen = endpoints(document).filter((endpoint) => isTool(document, endpoint))
  if (chosen.length === 0) return undefined
  const styles = callStyles(document, chosen)
  const isSendable = sendable(document)
  const inputs = chosen.map((endpoint) => inputOf(endpoint, isSendable))
  const { nodes, responses } = int64Responses(withResponses(document, inputs))
  return { info: { name: document.info.title, version: document.info.version }, tools: chosen.map(toolOf), nodes }

  function toolOf(endpoint: Endpoint, index: number): OperationTool {
    const { method, path, routes, operationId: name } = endpoint
    const { summary, description } = resolve(document, endpoint.pointer) as { summary?: string; description?: string }
    const own = styles[`${method} ${path}`]
    const contentType = jsonTypeOf(endpoint)
    const root = responses[`POST /${index}`]?.['200']
    return {
      name,
      ...(summary !== undefined && { title: summary }),
      ...(description !== undefined && { description }),
      annotations: {
        readOnlyHint: ['GET', 'HEAD', 'QUERY'].includes(method),
        idempotentHint: !['POST', 'PATCH'].includes(method),
      },
      method,
      path: routes[0] as string,
      inputSchema: selfContained(document, inputs[index] as Node),
      ...(contentType !== undefined && !/^application\/(json|\*.*)$/.test(contentType) && { contentType }),
      ...(own !== undefined && { styles: own }),
      ...(typeof root === 'number' && { root }),
    }
  }
}

/** Returns the first JSON media type of a request body; undefined if it has none. */
const jsonTypeOf = ({ requestBody }: Pick<Endpoint, 'requestBody'>): string | undefined =>
  Object.keys(requestBody?.content ?? {}).find((mediaType) => kindOf(mediaType) === 'json')

/** Returns the schema of a tool's arguments: the parameters by location, and the body. */
function inputOf({ parameters, requestBody }: Endpoint, isSendable: (parameter: Parameter) => boolean): Node {
  const groups = ['path', 'query', 'header'].flatMap(groupOf)
  const json = requestBody?.content[jsonTypeOf({ requestBody }) ?? '']
  const body: Argument[] = json === undefined ? [] : [['body', json.schema ?? {}, requestBody?.required === true]]
  return objectOf([...groups, ...body])

  /** Returns the parameters of a location as a member of the arguments; none if it has no parameters. */
  function groupOf(location: string): Argument[] {
    const described: Argument[] = []
    for (const one of parameters)
      if (one.in === location && isSendable(one))
        described.push([one.name, withDescription(schemaOf(one), one), one.required === true])
    return described.length === 0 ? [] : [[location, objectOf(described), described.some(isRequired)]]
  }
}

type Argument = [name: string, schema: Schema, isRequired: boolean]

const isRequired = (argument: Argument): boolean => argument[2]

function objectOf(all: Argument[]): Node {
  const properties = new Map<string, Schema>()
  for (const [name, schema] of all) properties.set(name, schema)
  const required = all.filter(isRequired).map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

const withDescription = (schema: Schema, parameter: object): Schema => {
  const { description } = parameter as { description?: string }
  return typeof schema === 'boolean' || description === undefined ? schema : { description, ...schema }
}

/**
 * Returns a document whose responses have the given schemas, so that the table of int64 values applies to arguments.
 */
function withResponses(document: Document, schemas: Node[]): Document {
  const paths: Record<string, object> = {}
  for (const [index, schema] of schemas.entries())
    paths[`/${index}`] = { post: { responses: { 200: { content: { 'application/json': { schema } } } } } }
  return { ...document, paths }
}

/** Returns a schema with the shared schemas in `$defs`, and each int64 as a string of digits. */
function selfContained(document: Document, schema: Node): OperationTool['inputSchema'] {
  const { schemas = {} } = (document.components ?? {}) as { schemas?: Record<string, Schema> }
  const shared = new Map<string, unknown>()
  const convert = (node: unknown) =>
    mapTree(node, 'schema', {
      schema: ({ $ref, discriminator: _, xml: __, externalDocs: ___, ...rest }) => {
        const own = isInt64(rest) ? asDigits(rest) : withoutIgnored(rest)
        if (typeof $ref !== 'string') return own
        const name = sharedName($ref)
        if (!shared.has(name)) shared.set(name, undefined)
        return { $ref: join('#/$defs', name), ...own }
      },
    })
  const converted = convert(schema) as OperationTool['inputSchema']
  // Iteration over a Map includes the entries that are added meanwhile.
  for (const name of shared.keys()) shared.set(name, convert(schemas[name]))
  return shared.size === 0 ? converted : { ...converted, $defs: Object.fromEntries(shared) }
}

/** Returns a schema without the properties that the service ignores in requests. */
function withoutIgnored(schema: Node): Node {
  if (schema.properties === undefined) return schema
  const properties = Object.entries(schema.properties as Record<string, Schema>).filter(([, each]) => !isIgnored(each))
  return { ...schema, properties: Object.fromEntries(properties) }
}

/** Returns the schema of an int64 or uint64 as a string. Its bounds stay with the server. */
function asDigits(node: Node): Node {
  const { type, format, description, enum: values, const: value, title, deprecated } = node
  const digitsOf = (one: unknown) => (isInteger(one) ? String(one) : one)
  return {
    type: Array.isArray(type) ? type.map((each) => (each === 'integer' ? 'string' : each)) : 'string',
    pattern: '^-?[0-9]{1,20}$',
    description: `${description === undefined ? '' : `${description} `}${format === 'uint64' ? 'A' : 'An'} ${format} as a string of digits.`,
    ...(title !== undefined && { title }),
    ...(deprecated !== undefined && { deprecated }),
    ...(Array.isArray(values) && { enum: values.map(digitsOf) }),
    ...(value !== undefined && { const: digitsOf(value) }),
  }
}
