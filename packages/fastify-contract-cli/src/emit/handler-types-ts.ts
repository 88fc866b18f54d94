import {
  isRange,
  kindOf,
  needsBoundary,
  type PreconditionRules,
  type ServiceHeader,
  serviceHeaders,
} from 'fastify-contract/contract'
import { resolve } from '../document/json-pointer.ts'
import { locationLink } from '../document/location-links.ts'
import {
  type Document,
  type Endpoint,
  endpoints,
  type Header,
  type Located,
  type MediaTypes,
  type Response,
  resolved,
} from '../document/openapi-document.ts'
import { defaultOf } from '../document/parameter-objects.ts'
import { preconditionsOf } from '../document/preconditions.ts'
import { blockText, quotedName, stringLiteral, templateText } from '../text/source-text.ts'
import { typeNames } from '../text/type-name.ts'

/** The module of the engine with the types of which handler-types.d.ts is made. */
const engineModule = 'fastify-contract/handlers'

/**
 * Returns the types of the handlers of a document: for each operation an interface of its request, a type for each
 * response, and their union. The types of values are those of api.d.ts, which needs no package. The types of the engine
 * are in a file of their own, because a client that copies api.d.ts does not have the engine.
 */
export function handlerTypes(document: Document): string {
  const names = typeNames(endpoints(document).map(({ operationId }) => operationId))
  const uses = new Set(['Handler'])
  const all = endpoints(document).map((endpoint) =>
    operationTypes(document, endpoint, names.get(endpoint.operationId) as string, (name) => {
      uses.add(name)
      return name
    }),
  )
  return [
    `import type { ${[...uses].sort().join(', ')} } from '${engineModule}'`,
    "import type { operations } from './api.d.ts'",
    '',
    '/** Exactly one handler for each operation of the document. */',
    'export interface Handlers {',
    ...all.map(({ member }) => member),
    '}',
    ...all.flatMap(({ declarations }) => ['', ...declarations]),
    '',
  ].join('\n')
}

/** Marks a type of the engine as used, and returns its name. */
type Use = (name: string) => string

function operationTypes(document: Document, endpoint: Endpoint, name: string, use: Use) {
  const { method, path, operationId, responses } = endpoint
  const type = `operations[${stringLiteral(operationId)}]`
  const title = blockText(`${method} ${path}`)
  const results: string[] = []
  const declarations = [...requestTypes(document, endpoint, { name, type, title }, use)]
  const keys = Object.keys(responses)
  for (const key of keys) {
    const status = statusOf(key, keys, use)
    if (status === undefined) continue
    const result = `${name}${key === 'default' ? 'Default' : key}`
    results.push(result)
    const declared = { name: result, type: `${type}['responses'][${keyText(key)}]` }
    const rules = key.startsWith('2') ? preconditionsOf(document, endpoint) : undefined
    declarations.push(
      ...responseTypes(document, responses[key] as Located<Response>, { ...declared, status, rules }, use),
    )
  }
  declarations.push(`export type ${name}Response = ${results.join(' | ') || 'never'}`)
  const summary = (resolve(document, endpoint.pointer) as { summary?: unknown }).summary
  const comment = typeof summary === 'string' && summary.trim() !== '' ? `${title}: ${blockText(summary)}` : title
  return {
    member: `    /** ${comment} */\n    ${quotedName(operationId)}: Handler<${name}Request, ${name}Response>`,
    declarations,
  }
}

const keyText = (key: string): string => (/^[1-9]\d*$/.test(key) ? key : stringLiteral(key))

/** Returns the type of the status of a response; undefined if handlers return no such response. */
function statusOf(key: string, all: string[], use: Use): string | undefined {
  if (/^\d+$/.test(key)) return key
  if (key === 'default') return all.length === 1 ? 'number' : undefined
  const range = `${use('StatusIn')}<${stringLiteral(key)}>`
  const listed = all.filter((other) => /^\d+$/.test(other) && other[0] === key[0])
  return listed.length === 0 ? range : `Exclude<${range}, ${listed.join(' | ')}>`
}

/** A type to be declared: its name, the type in api.d.ts of what it is about, and the title of its operation. */
type Declared = { name: string; type: string }

function* requestTypes(
  document: Document,
  endpoint: Endpoint,
  { name, type, title }: Declared & { title: string },
  use: Use,
): Generator<string> {
  const { requestBody } = endpoint
  const members = [
    ...(['path', 'query', 'header', 'cookie'] as const).map((place) => `${place}: ${parametersType(place)}`),
    `client: ${use('Client')} | undefined`,
    ...negotiated(endpoint.responses),
    ...(isStreamed(endpoint) ? ['signal: AbortSignal'] : []),
    ...checkedMember(document, endpoint, use),
  ]
  const body = requestBody?.required ? `${type}['requestBody']` : `NonNullable<${type}['requestBody']>`
  const bodies = requestBody === undefined ? ['body: undefined'] : bodyMembers(requestBody, `${body}['content']`, use)
  const [only] = bodies
  const own = bodies.length === 1 ? [...members, only as string] : members
  const base = bodies.length === 1 ? `${name}Request` : `${name}Parameters`
  yield `/** What the handler of ${title} receives. */`
  yield `export interface ${base} {\n${own.map((member) => `    ${member}`).join('\n')}\n}`
  if (bodies.length > 1)
    yield `export type ${name}Request = ${base} & (\n${bodies.map((one) => `    | { ${one} }`).join('\n')}\n)`

  function parametersType(place: 'path' | 'query' | 'header' | 'cookie'): string {
    const parameters = endpoint.parameters.filter((parameter) => parameter.in === place)
    if (parameters.length === 0) return use('NoDeclaredParameters')
    const given = `${type}['parameters']['${place}']`
    const isRequired = place === 'path' || parameters.some(({ required }) => required)
    const defaults = parameters.filter((parameter) => 'default' in defaultOf(document, parameter))
    const present = defaults.map((parameter) => `${quotedName(parameter.name)}: ${use('Present')}`)
    return [
      isRequired ? given : `NonNullable<${given}>`,
      ...(present.length > 0 ? [`{ ${present.join('; ')} }`] : []),
    ].join(' & ')
  }
}

/** Returns the member of a write that checks the preconditions of the request. */
function checkedMember(document: Document, endpoint: Endpoint, use: Use): string[] {
  const rules = preconditionsOf(document, endpoint)
  if (rules?.of !== 'write') return []
  return [`preconditions: ${use('Preconditions')}<${rules.validators.map(stringLiteral).join(' | ') || 'never'}>`]
}

/** Returns the member `accept`, if the client chooses among media types; `contentNegotiation` says the same at run time. */
function negotiated(responses: Endpoint['responses']): string[] {
  const severalOf = (keys: string[]): Set<string> =>
    new Set(
      keys
        .map((key) => Object.keys(responses[key]?.content ?? {}))
        .flatMap((types) => (types.length > 1 ? types.filter((type) => !isRange(type)) : [])),
    )
  const keys = Object.keys(responses)
  const successes = keys.filter((key) => key.startsWith('2'))
  const chosen = severalOf(successes.length > 0 ? successes : ['default'])
  const types = chosen.size > 0 ? chosen : severalOf(keys)
  if (types.size === 0) return []
  return [`accept: ${Array.from(types, (type) => stringLiteral(type)).join(' | ')}`]
}

/** Returns whether a handler reads the body of the request itself, or may respond with a stream. */
function isStreamed({ requestBody, responses }: Endpoint): boolean {
  const sent = Object.keys(requestBody?.content ?? {})
  const returned = Object.values(responses).flatMap(({ content = {} }) => Object.keys(content))
  return (
    sent.some((type) => isRange(type) || !['json', 'form', 'text'].includes(kindOf(type))) ||
    returned.some((type) => isRange(type) || kindOf(type) !== 'json')
  )
}

/** Returns the members of each form that the body of a request may have. */
function bodyMembers(
  { required, content }: { required?: boolean; content: MediaTypes },
  type: string,
  use: Use,
): string[] {
  const types = Object.keys(content)
  const hasType = types.length > 1 || types.some(isRange)
  if (types.length === 0) return ['body: undefined']
  if (!hasType) {
    const [only = ''] = types
    return [`body: ${requestBodyType(only, type, use)}${required ? '' : ' | undefined'}`]
  }
  return [
    ...types.map((each) =>
      isRange(each)
        ? `contentType: string; body: ${use('ByteSource')}`
        : `contentType: ${stringLiteral(each)}; body: ${requestBodyType(each, type, use)}`,
    ),
    ...(required ? [] : ['contentType: undefined; body: undefined']),
  ]
}

/** Returns the type of the body that a handler gets. */
function requestBodyType(mediaType: string, content: string, use: Use): string {
  const value = `${content}[${stringLiteral(mediaType)}]`
  const kind = kindOf(mediaType)
  if (kind === 'json' || kind === 'form') return value
  const holders = { multipart: 'FormParts', text: 'TextOf', lines: 'Lines', events: 'Events', bytes: undefined }
  const holder = holders[kind]
  return holder === undefined ? use('ByteSource') : `${use(holder)}<${value}>`
}

/** A response to be declared: its status and, for a 2xx, how its operation evaluates preconditions. */
type DeclaredResponse = Declared & { status: string; rules: PreconditionRules | undefined }

function* responseTypes(
  document: Document,
  response: Located<Response>,
  { name, type, status, rules }: DeclaredResponse,
  use: Use,
): Generator<string> {
  const headers = headersOf(document, response, `${type}['headers']`, rules, use)
  const own =
    headers === undefined
      ? [`headers?: ${use('NoDeclaredHeaders')}`]
      : [`headers${headers.isRequired ? '' : '?'}: ${name}Headers`]
  if (headers !== undefined)
    yield `export type ${name}Headers = {\n${headers.members.map((one) => `    ${one}`).join('\n')}\n}`
  const bodies = Object.keys(response.content ?? {}).flatMap((mediaType) =>
    responseBodies(
      mediaType,
      { isOneOfSeveral: Object.keys(response.content ?? {}).length > 1, isWhole: rules?.isDigest === true },
      `${type}['content']`,
      use,
    ),
  )
  const [only = ['contentType?: never', 'body: undefined']] = bodies
  const checked = rules?.of === 'write' ? [`checked: ${use('Checked')}`] : []
  const members = (body: string[]) => [`status: ${status}`, ...checked, ...own, ...body]
  yield bodies.length <= 1
    ? `export interface ${name} {\n${members(only)
        .map((one) => `    ${one}`)
        .join('\n')}\n}`
    : `export type ${name} =\n${bodies.map((body) => `    | { ${members(body).join('; ')} }`).join('\n')}`
}

/** Returns the declared headers that the service does not send itself; undefined if there are none. */
function headersOf(
  document: Document,
  response: Located<Response>,
  type: string,
  rules: PreconditionRules | undefined,
  use: Use,
) {
  const members: string[] = []
  let isRequired = false
  for (const [name, given] of Object.entries(response.headers ?? {})) {
    const lowerCase = name.toLowerCase()
    if (serviceHeaders.includes(lowerCase as ServiceHeader) || (rules?.isDigest && lowerCase === 'etag')) continue
    const isMade = lowerCase === 'location' && locationLink(document, response) !== undefined
    const required = resolved<Header>(document, given as { $ref?: string }).required === true && !isMade
    isRequired ||= required
    const key = stringLiteral(name)
    const form = rules === undefined ? undefined : validatorForms[lowerCase]
    const value = `${required ? `${type}[${key}]` : `Exclude<${type}[${key}], undefined>`}`
    members.push(`${key}${required ? '' : '?'}: ${form === undefined ? value : `${value} & ${use(form)}`}`)
  }
  return members.length === 0 ? undefined : { members, isRequired }
}

/** The types of the headers with which preconditions are compared: an unquoted tag would equal no tag of a request. */
const validatorForms: Record<string, string> = { etag: 'EntityTag', 'last-modified': 'HttpDate' }

/** A part of a template literal type that may be any text. */
const anyText = `\${string}`

/** Returns the members of each form that the body of a response has in a media type. */
function responseBodies(
  mediaType: string,
  { isOneOfSeveral, isWhole }: { isOneOfSeveral: boolean; isWhole: boolean },
  content: string,
  use: Use,
): string[][] {
  const value = `${content}[${stringLiteral(mediaType)}]`
  const key = `contentType${isOneOfSeveral ? '' : '?'}: ${stringLiteral(mediaType)}`
  const kind = kindOf(mediaType)
  if (kind === 'json' && !isRange(mediaType)) return [[key, `body: ${value}`]]
  if (kind === 'events') return [[key, `body: AsyncIterable<${use('ServerSentEvent')}<${value}>>`]]
  if (kind === 'lines') return [[key, `body: AsyncIterable<${value}>`]]
  // A digest needs the whole body.
  const stream = isWhole ? 'Uint8Array' : `Uint8Array | ${use('ByteStream')}`
  if (isRange(mediaType)) {
    const [top = ''] = mediaType.split('/')
    const concrete = `\`${top === '*' ? anyText : templateText(top)}/${anyText}\``
    return [
      [`contentType: ${use('JsonType')}`, `body: ${value}`],
      [`contentType: ${concrete}`, `body: string | ${stream}`],
    ]
  }
  if (needsBoundary(mediaType))
    return [[`contentType: \`${templateText(mediaType)};${anyText}boundary=${anyText}\``, `body: ${stream}`]]
  return [[key, `body: ${kind === 'text' ? `${use('TextOf')}<${value}> | ` : ''}${stream}`]]
}
