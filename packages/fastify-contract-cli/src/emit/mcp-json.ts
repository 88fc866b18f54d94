import { kindOf, type Schema } from 'fastify-contract/contract'
import type { McpTable, OperationTool, ToolAuthorization, ToolHints } from 'fastify-contract/mcp'
import { isIgnored } from 'fastify-contract/schema'
import { callStyles } from '../document/call-styles.ts'
import { join, resolve } from '../document/json-pointer.ts'
import { type Document, type Endpoint, endpoints, type Parameter, withDefaults } from '../document/openapi-document.ts'
import { schemaOf } from '../document/parameter-objects.ts'
import { isBigint, isExactInteger, isFraction, isInteger } from '../document/schemas.ts'
import { issuerOf, isTokenScheme, securityScheme } from '../document/security-schemes.ts'
import { sharedName } from '../document/shared-schemas.ts'
import { isNode, mapTree, type Node, withoutKeys } from '../document/walk-document.ts'
import { sendable, type ToolMark, toolMark } from '../rules/tool-rules.ts'
import { int64Responses } from './client-json.ts'

/** Returns the operations with `x-mcp` as tools; undefined if there are none. */
export function mcpTable(document: Document): McpTable | undefined {
  const chosen = endpoints(document).filter((endpoint) => toolMark(document, endpoint) !== undefined)
  if (chosen.length === 0) return undefined
  const styles = callStyles(document, chosen)
  const isSendable = sendable(document)
  const inputs = chosen.map((endpoint) => inputOf(endpoint, isSendable))
  const outputs = chosen.map(outputOf)
  const described = [...inputs, ...outputs.map((schema) => schema ?? {})]
  const { nodes, responses } = int64Responses(withResponses(document, described))
  const rootOf = (index: number) => responses[`POST /${index}`]?.['200']
  const authorization = authorizationOf(document, chosen)
  return {
    info: { name: document.info.title, version: document.info.version },
    tools: chosen.map(toolOf),
    nodes,
    ...(authorization !== undefined && { authorization }),
  }

  function toolOf(endpoint: Endpoint, index: number): OperationTool {
    const { method, path, routes, operationId } = endpoint
    const { summary, ...operation } = resolve(document, endpoint.pointer) as { summary?: string; description?: string }
    const mark = toolMark(document, endpoint) as ToolMark
    const { name = operationId, title = summary, description = operation.description } = mark
    const own = styles[`${method} ${path}`]
    const contentType = jsonTypeOf(endpoint)
    const scopes = tokenScopes(document, endpoint)
    const root = rootOf(index)
    const output = outputs[index]
    const outputRoot = rootOf(inputs.length + index)
    return {
      name,
      ...(name !== operationId && { operationId }),
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      annotations: { ...hintsOf(method), ...mark.annotations },
      method,
      path: routes[0] as string,
      inputSchema: selfContained(
        document,
        inputs[index] as Node,
        typeof root === 'number' ? withDigits : unchanged,
      ) as OperationTool['inputSchema'],
      ...(output !== undefined && { outputSchema: outputSchemaOf(document, output, typeof outputRoot === 'number') }),
      ...(scopes !== undefined && { scopes }),
      ...(contentType !== undefined && !/^application\/(json|\*.*)$/.test(contentType) && { contentType }),
      ...(own !== undefined && { styles: own }),
      ...(typeof root === 'number' && { root }),
      ...(typeof outputRoot === 'number' && { outputRoot }),
    }
  }
}

/** The safe methods, and the other idempotent ones (RFC 9110 section 9.2, RFC 10008 section 2). */
const safe = ['GET', 'HEAD', 'OPTIONS', 'QUERY']
const replacing = ['PUT', 'DELETE']

/**
 * Returns what a method says about its operation. Whether POST, PATCH and other methods destroy anything is unknown, so
 * they get no `destructiveHint`, and clients assume that they do.
 */
function hintsOf(method: string): ToolHints {
  const readOnlyHint = safe.includes(method)
  const idempotentHint = readOnlyHint || replacing.includes(method)
  return { readOnlyHint, ...(idempotentHint && { destructiveHint: !readOnlyHint }), idempotentHint }
}

/**
 * Returns the scopes of an operation that accepts tokens of OAuth 2 or OpenID Connect: those of the first requirement
 * with such a scheme. Returns undefined for any other operation.
 */
function tokenScopes(document: Document, { security }: Endpoint): string[] | undefined {
  for (const requirement of security)
    for (const [scheme, scopes] of Object.entries(requirement))
      if (isTokenScheme(securityScheme(document, scheme))) return scopes
  return undefined
}

/** Returns what the document says about the tokens of tools; undefined if no tool accepts tokens of OAuth 2. */
function authorizationOf(document: Document, tools: Endpoint[]): ToolAuthorization | undefined {
  const names = new Set(tools.flatMap(({ security }) => security.flatMap(Object.keys)))
  const schemes = [...names].map((name) => securityScheme(document, name)).filter(isTokenScheme)
  if (schemes.length === 0) return undefined
  const [first] = document.servers ?? []
  const server = first === undefined ? '' : withDefaults(first)
  const issuers = new Set(schemes.map(issuerOf).filter((issuer) => issuer !== undefined))
  const scopes = new Set(tools.flatMap((tool) => tokenScopes(document, tool) ?? []))
  return {
    ...(URL.canParse(server) && { origin: new URL(server).origin }),
    issuers: [...issuers],
    scopes: [...scopes],
  }
}

/**
 * Returns the schema of the bodies of all successful responses; undefined if one of them may have another body than JSON,
 * since clients reject a result without the structured content that an output schema promises.
 */
function outputOf({ method, responses }: Endpoint): Schema | undefined {
  const statuses = Object.keys(responses).filter((status) => /^[23]/.test(status))
  const successful = statuses.length === 0 && responses.default !== undefined ? ['default'] : statuses
  const schemas = new Map<unknown, Schema>()
  for (const status of successful) {
    const content = Object.entries(responses[status]?.content ?? {})
    if (method === 'HEAD' || content.length === 0) return undefined
    for (const [mediaType, { schema = {} }] of content) {
      if (kindOf(mediaType) !== 'json') return undefined
      schemas.set((schema as Node).$ref ?? schema, schema)
    }
  }
  const [first, ...others] = schemas.values()
  return others.length === 0 ? first : { anyOf: [first, ...others] }
}

/**
 * Keywords that test a value without describing it. With an int64 as a string of digits, a test may have another result
 * than for the number.
 */
const tests = ['not', 'if', 'then', 'else', 'unevaluatedProperties', 'unevaluatedItems']

/**
 * Returns the schema of the structured content. If its root must be an object, it says so beside a `$ref`, too: revisions
 * before 2026-07-28 allow no other root, and look at `type` alone.
 */
function outputSchemaOf(document: Document, schema: Schema, hasInt64: boolean): Node {
  const described = typeof schema === 'boolean' ? (schema ? {} : { not: {} }) : schema
  const output = selfContained(document, described as Node, hasInt64 ? withoutTests : unchanged)
  return isCertainObject(document, schema) ? { type: 'object', ...output } : output
}

const unchanged = (schema: Node): Node => schema

const withoutTests = (schema: Node): Node => withDigits(withoutKeys(schema, tests))

/** Keywords with values of a schema. */
const valued = ['enum', 'const', 'default', 'example', 'examples']

/**
 * Returns a schema that fits a string of digits in place of an int64. Two schemas of a `oneOf` may match the string. A
 * schema that names no type of number may describe an int64 that another one makes it, or hold one: an integer that it
 * allows may be either, and an example with an integer may have the wrong one.
 */
function withDigits({ oneOf, ...given }: Node): Node {
  const schema = oneOf === undefined || given.anyOf !== undefined ? given : { ...given, anyOf: oneOf }
  if (isFraction(schema) || isExactInteger(schema)) return schema
  const unsuited = valued.filter((keyword) => holdsInteger(schema[keyword]))
  const kept = withoutKeys(schema, unsuited)
  const { enum: values = [schema.const] } = schema as { enum?: unknown[] }
  const isChoice = unsuited.includes('enum') || unsuited.includes('const')
  if (!isChoice || values.some((value) => !isInteger(value) && holdsInteger(value))) return kept
  return { ...kept, enum: values.flatMap((value) => (isInteger(value) ? [value, String(value)] : [value])) }
}

const holdsInteger = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.values(value).some(holdsInteger) : isInteger(value)

/** Returns whether a schema accepts objects only. */
function isCertainObject(document: Document, schema: unknown, visited = new Set<unknown>()): boolean {
  if (!isNode(schema) || visited.has(schema)) return false
  visited.add(schema)
  const isObject = (one: unknown) => isCertainObject(document, one, visited)
  const { type, $ref, allOf = [], anyOf = [], oneOf = [] } = schema as Record<string, unknown[]>
  if (String(type) === 'object') return true
  if (typeof $ref === 'string' && isObject(resolve(document, $ref))) return true
  return allOf.some(isObject) || [anyOf, oneOf].some((each) => each.length > 0 && each.every(isObject))
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
 * Returns a document whose responses have the given schemas, so that one table has the int64 values of arguments and of
 * results.
 */
function withResponses(document: Document, schemas: Schema[]): Document {
  const paths: Record<string, object> = {}
  for (const [index, schema] of schemas.entries())
    paths[`/${index}`] = { post: { responses: { 200: { content: { 'application/json': { schema } } } } } }
  return { ...document, paths }
}

/** Returns a schema with the shared schemas in `$defs`, each int64 as a string of digits, and each schema `simplified`. */
function selfContained(document: Document, schema: Node, simplified: (one: Node) => Node): Node {
  const { schemas = {} } = (document.components ?? {}) as { schemas?: Record<string, Schema> }
  const shared = new Map<string, unknown>()
  const convert = (node: unknown) =>
    mapTree(node, 'schema', {
      schema: ({ $ref, discriminator: _, xml: __, externalDocs: ___, ...described }) => {
        // The schema that has it leaves an ignored property out.
        if (isIgnored(described)) return described
        const rest = Object.fromEntries(Object.entries(described).filter(([keyword]) => !keyword.startsWith('x-')))
        const own = isBigint(rest) ? asDigits(rest) : withoutIgnored(simplified(rest))
        if (typeof $ref !== 'string') return own
        const name = sharedName($ref)
        if (!shared.has(name)) shared.set(name, undefined)
        return { $ref: join('#/$defs', name), ...own }
      },
    })
  const converted = convert(schema) as Node
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

/**
 * Returns the schema of an int64 or uint64 as a string, or of a number whose integers may be int64. Its bounds stay with
 * the server.
 */
function asDigits(node: Node): Node {
  const { type, format, description, enum: values, const: value, default: fallback, examples, title, deprecated } = node
  const digitsOf = (one: unknown) => (isInteger(one) ? String(one) : one)
  const isMixed = isFraction(node)
  const types = [type].flat().map((each) => (each === 'integer' ? 'string' : each))
  const form = isMixed
    ? 'An integer is a string of digits.'
    : `${format === 'uint64' ? 'A' : 'An'} ${format} as a string of digits.`
  return {
    type: isMixed ? [...new Set(['string', ...types])] : types.length === 1 ? types[0] : types,
    pattern: '^-?[0-9]{1,20}$',
    description: description === undefined ? form : `${description} ${form}`,
    ...(title !== undefined && { title }),
    ...(deprecated !== undefined && { deprecated }),
    ...(Array.isArray(values) && { enum: values.map(digitsOf) }),
    ...(value !== undefined && { const: digitsOf(value) }),
    ...(fallback !== undefined && { default: digitsOf(fallback) }),
    ...(Array.isArray(examples) && { examples: examples.map(digitsOf) }),
  }
}
