import { join, resolve } from '../document/json-pointer.ts'
import { eachHeld, hasShape, isNode, type Kind, memberOf, type Node } from '../document/walk-document.ts'

/**
 * Returns one line for each location where the structure of a bundled document violates OpenAPI. Checks only what the
 * generator reads; the linter checks more.
 */
export function structureProblems(document: unknown): string[] {
  const problems: string[] = []
  const visit = (value: unknown, kind: Kind, pointer: string): void => {
    const names = [pointer.slice(pointer.lastIndexOf('/'))]
    if (kind === 'parameter') names.push(String(Object(value).name))
    if (kind === 'operation') names.push(String(Object(value).operationId))
    if (names.some((name) => /\p{Surrogate}/u.test(name)))
      problems.push(`${pointer}: its name contains a lone surrogate, which no request can contain; remove it`)
    if (!isNode(value)) {
      if (kind !== 'schema' || typeof value !== 'boolean') problems.push(wrong(pointer, 'an object', value))
      return
    }
    const problem = Object.hasOwn(value, '$ref') ? referenceProblem(document as Node, kind, value) : undefined
    if (problem !== undefined) problems.push(`${pointer}/$ref: ${problem}`)
    for (const [name, type] of Object.entries(fields[kind] ?? {})) {
      const expected = expectedOf(value, name, type, required[kind]?.includes(name) === true)
      if (expected !== undefined) problems.push(wrong(join(pointer, name), expected, value[name]))
    }
    for (const [name, below] of Object.entries(value)) visitMember(below, kind, name, join(pointer, name))
  }
  const visitMember = (value: unknown, kind: Kind, name: string, pointer: string): void => {
    const member = memberOf(kind, name)
    if (member === undefined) return
    if (hasShape(value, member)) eachHeld(value, member, pointer, (held, at) => visit(held, member.kind, at))
    else problems.push(wrong(pointer, member.shape === 'list' ? 'an array' : 'an object', value))
  }
  const { swagger } = Object(document) as { swagger?: unknown }
  if (swagger !== undefined)
    return [`#/swagger: this is Swagger ${swagger}, which is not supported; convert the document to OpenAPI 3 first`]
  visit(document, 'document', '#')
  const version = (document as { openapi?: unknown } | null)?.openapi
  if (problems.length === 0 && !/^3\.[012]\./.test(version as string))
    problems.push(`#/openapi: ${version} is not supported; use 3.0, 3.1 or 3.2`)
  return problems
}

const wrong = (pointer: string, expected: string, value: unknown): string =>
  value === undefined
    ? `${pointer}: is missing; add ${expected}`
    : `${pointer}: must be ${expected}, not ${JSON.stringify(value).slice(0, 40)}; correct it`

/** Returns what the value of a field must be, unless it is that. */
function expectedOf(node: Node, name: string, type: FieldType, isRequired: boolean): string | undefined {
  const value = Object.hasOwn(node, name) ? node[name] : undefined
  // An object with a $ref takes its required fields from the target.
  if (value === undefined && (!isRequired || Object.hasOwn(node, '$ref'))) return undefined
  const [expected, isValid] = fieldTypes[type]
  return isValid(value) ? undefined : expected
}

/**
 * Returns the problem of a reference, if any. The targets of schema references are checked in schema-rules.ts.
 */
function referenceProblem(document: Node, kind: Kind, node: Node): string | undefined {
  const seen = new Set<unknown>()
  for (let found: unknown = node; ; ) {
    if (!isNode(found) || seen.has(found)) return `${node.$ref} does not resolve to the expected ${kind}; correct it`
    const { $ref } = found
    if ($ref === undefined) return undefined
    if (typeof $ref !== 'string') return 'must be a string; correct it'
    if (kind === 'schema') return undefined
    if (!$ref.startsWith('#/')) return `${$ref} does not point into this document; use a reference that begins with #/`
    seen.add(found)
    found = resolve(document, $ref)
  }
}

/** The type of a field that holds neither schemas nor other OpenAPI objects. */
type FieldType = keyof typeof fieldTypes

const isText = (value: unknown): value is string => typeof value === 'string'
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)

const types = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']

/** The description of each field type in messages, and the function that checks it. */
const fieldTypes = {
  text: ['a string', isText],
  flag: ['true or false', (value) => typeof value === 'boolean'],
  texts: ['an array of strings', isTexts],
  number: ['a number', Number.isFinite],
  // In OpenAPI 3.0 an exclusive limit is a flag.
  limit: ['a number', (value) => typeof value === 'boolean' || Number.isFinite(value)],
  type: [
    `one of ${types.join(', ')}, or an array of them`,
    (value) => [value].flat().every((one) => types.includes(one as string)),
  ],
  values: ['an array with at least one value', (value) => Array.isArray(value) && value.length > 0],
  textLists: ['an object with arrays of strings', (value) => isNode(value) && Object.values(value).every(isTexts)],
  location: [
    'path, query, querystring, header or cookie',
    (value) => ['path', 'query', 'querystring', 'header', 'cookie'].includes(value as string),
  ],
  info: [
    'an object with a title and a version',
    (value) => isNode(value) && isText(value.title) && isText(value.version),
  ],
  servers: [
    'an array of objects with a url, and with a default for each of its variables',
    (value) => Array.isArray(value) && value.every(isServer),
  ],
  security: [
    'an array of objects with an array of scopes for each scheme',
    (value) => Array.isArray(value) && value.every((one) => isNode(one) && Object.values(one).every(isTexts)),
  ],
  discriminator: [
    'an object with a propertyName and a mapping to strings',
    (value) =>
      isNode(value) &&
      isText(value.propertyName) &&
      (value.mapping === undefined || (isNode(value.mapping) && Object.values(value.mapping).every(isText))),
  ],
} satisfies Record<string, [expected: string, isValid: (value: unknown) => boolean]>

function isServer(server: unknown): boolean {
  if (!isNode(server) || !isText(server.url)) return false
  const { variables = {} } = server
  if (!isNode(variables)) return false
  const isVariable = (one: unknown) =>
    isNode(one) && isText(one.default) && (one.enum === undefined || isTexts(one.enum))
  return Object.values(variables).every(isVariable)
}

/** The keywords of a schema whose value is a number. */
const numeric = ['minimum', 'maximum', 'multipleOf'].concat(
  ['Length', 'Items', 'Properties', 'Contains'].flatMap((what) => [`min${what}`, `max${what}`]),
)

const words = { summary: 'text', description: 'text' } as const

/** The fields of each OpenAPI object that the generator reads, except those that hold other objects. */
const fields: Partial<Record<Kind, Record<string, FieldType>>> = {
  document: { openapi: 'text', info: 'info', servers: 'servers', security: 'security' },
  pathItem: { ...words, servers: 'servers' },
  operation: { ...words, operationId: 'text', servers: 'servers', security: 'security' },
  parameter: { ...words, name: 'text', in: 'location', required: 'flag', style: 'text', explode: 'flag' },
  requestBody: { ...words, required: 'flag' },
  response: words,
  header: { ...words, required: 'flag' },
  securityScheme: { type: 'text', scheme: 'text', in: 'text', name: 'text' },
  schema: {
    ...words,
    title: 'text',
    type: 'type',
    format: 'text',
    pattern: 'text',
    required: 'texts',
    enum: 'values',
    ...Object.fromEntries(numeric.map((keyword) => [keyword, 'number'] as const)),
    exclusiveMinimum: 'limit',
    exclusiveMaximum: 'limit',
    uniqueItems: 'flag',
    dependentRequired: 'textLists',
    discriminator: 'discriminator',
  },
}

const required: Partial<Record<Kind, string[]>> = {
  document: ['openapi', 'info'],
  parameter: ['name', 'in'],
  securityScheme: ['type'],
}
