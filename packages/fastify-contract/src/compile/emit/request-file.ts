import { expandPath, type ParameterPair, pairText, parameterPairs, sentBody } from '../../client/call-request.ts'
import { serializeEvent } from '../../http/streams.ts'
import { stringifyJson } from '../../json/json-document.ts'
import { kindOf, type RequestKind, requestKindOf } from '../../serve/media-types.ts'
import { formOf } from '../document/forms.ts'
import { resolve } from '../document/json-pointer.ts'
import {
  type Document,
  type Endpoint,
  endpoints,
  type Located,
  type MediaType,
  type Parameter,
  type RequestBody,
  serverUrl,
} from '../document/openapi-document.ts'
import { holderOf } from '../document/parameter-objects.ts'
import { type Credential, credentialOf } from '../document/security-schemes.ts'
import { formStyles, parameterStyle } from './client-table.ts'
import { concreteType, exampleOfRequest } from './examples.ts'

const credentialNote = `# fastify-contract mock accepts any token. To call the service, copy this file, since generate overwrites it, and set the
# origin and a token in the copy.`

/**
 * Returns the text of a file with one request for each operation, in the format that VS Code's REST Client and
 * JetBrains' HTTP Client share: https://http-files.org.
 */
export function requestFile(document: Document): string {
  const all = endpoints(document).map((endpoint) => ({ endpoint, request: requestParts(document, endpoint) }))
  const variables = new Set(all.flatMap(({ request }) => request.variables))
  return [
    ...(variables.size > 0 ? [credentialNote] : []),
    '',
    `@origin = ${new URL(serverUrl(document.servers ?? [])).origin}`,
    ...[...variables].map((name) => `@${name} = ACCESS_TOKEN`),
    ...all.map(({ endpoint, request }) => `\n${requestText(document, endpoint, request)}`),
    '',
  ].join('\n')
}

function requestText(document: Document, { pointer, operationId, method }: Endpoint, request: RequestParts): string {
  const { summary = operationId } = resolve(document, pointer) as { summary?: string }
  return [
    `### ${String(summary).replace(/\s+/g, ' ').trim()}`,
    `# @name ${operationId}`,
    ...(request.files.length > 0 ? [`# Put ${request.files.join(' and ')} beside this file.`] : []),
    `${method} {{origin}}${request.path}`,
    // One query parameter per line, so that a user can delete a line.
    ...request.query.map((pair, index) => `    ${index === 0 ? '?' : '&'}${pair}`),
    ...request.headers.map((line) => line.replace(/\s+/g, ' ')),
    ...(request.body === undefined ? [] : ['', request.body]),
  ].join('\n')
}

/** A request with the document's example values. A credential is a variable with the name of its scheme: {{bearer}}. */
type RequestParts = {
  path: string
  /** Percent-encoded "name=value" pairs. */
  query: string[]
  /** "name: value" lines. */
  headers: string[]
  body?: string
  /** The names of the files that the body refers to, in the same directory as the request file. */
  files: string[]
  /** The names of the variables for its credentials. */
  variables: string[]
}

/**
 * Returns an example request of an operation. It has the first example of the body, of each required parameter, and of
 * each optional parameter with an example. Its credentials are those of the first security requirement.
 */
export function requestParts(document: Document, endpoint: Endpoint): RequestParts {
  const exampleOf = (parameter: Parameter) => exampleOfRequest(document, holderOf(parameter))
  const { pairs, credentials, body } = exampleParts(document, endpoint, exampleOf)
  const variableOf = ({ scheme }: { scheme: string }) => scheme.replace(/\W/g, '_')
  const placed = (location: Credential['in']) =>
    credentials
      .filter((one) => one.in === location)
      .map((one) => `${one.name}${location === 'header' ? ': ' : '='}${one.prefix}{{${variableOf(one)}}}`)
  const cookies = [...pairs('cookie').map(pairText), ...placed('cookie')]
  return {
    path: expandPath(endpoint.routes[0] as string, pairs('path')),
    query: [...pairs('query').map(pairText), ...placed('query')],
    headers: [
      ...placed('header'),
      ...pairs('header').map(([name, value]) => `${name}: ${value}`),
      ...(cookies.length > 0 ? [`Cookie: ${cookies.join('; ')}`] : []),
      ...(body === undefined ? [] : [`Content-Type: ${contentTypeOf(body)}`]),
    ],
    ...(body && { body: bodyText(body) }),
    files: body === undefined ? [] : filesOf(body),
    variables: credentials.map(variableOf),
  }
}

/**
 * Returns what an example request of an operation consists of: the values of its parameters, their pairs of name and
 * value by location, the credentials of its first security requirement, and its body.
 *
 * @param exampleOf Returns the example value of a parameter.
 */
export function exampleParts(document: Document, endpoint: Endpoint, exampleOf: (parameter: Parameter) => unknown) {
  const { parameters, security, requestBody } = endpoint
  const values = parameters.filter(isShown).map((parameter) => ({ parameter, value: exampleOf(parameter) }))
  return {
    values,
    pairs: (location: Parameter['in']): ParameterPair[] =>
      values
        .filter(({ parameter }) => parameter.in === location)
        .flatMap(({ parameter, value }) => {
          const { in: location, name } = parameter
          return parameterPairs({ ...parameterStyle(document, parameter), in: location, name }, value)
        }),
    credentials: Object.keys(security[0] ?? {}).flatMap((scheme) => {
      const credential = credentialOf(document, scheme)
      return credential === undefined ? [] : [{ ...credential, scheme }]
    }),
    body: requestBody && exampleRequestBody(document, requestBody),
  }
}

/** The boundary between the parts of a form. */
const boundary = 'example'

const contentTypeOf = ({ kind, mediaType }: ExampleBody): string =>
  kind === 'multipart' ? `${mediaType}; boundary=${boundary}` : mediaType

const filesOf = ({ file, parts }: ExampleBody): string[] => [
  ...(file === '' ? [] : [file]),
  ...parts.flatMap((part) => ('file' in part ? [part.file] : [])),
]

function bodyText({ kind, value, text, parts, file }: ExampleBody): string {
  if (kind === 'json') return JSON.stringify(value, null, 2)
  if (kind === 'bytes') return `< ./${file}`
  if (kind !== 'multipart') return text
  const lines = parts.flatMap((part) => {
    const head = `Content-Disposition: form-data; name="${part.name}"`
    const shown =
      'file' in part
        ? [`${head}; filename="${part.file}"`, `Content-Type: ${part.mediaType}`, '', `< ./${part.file}`]
        : [head, '', part.text]
    return [`--${boundary}`, ...shown]
  })
  return [...lines, `--${boundary}--`].join('\n')
}

/** Returns whether an example request includes a parameter. */
export const isShown = (parameter: Parameter): boolean =>
  parameter.required === true || 'example' in holderOf(parameter) || 'examples' in holderOf(parameter)

/** A part of an example form: a text, or a file that the user must provide. */
export type ExamplePart = { name: string; text: string } | { name: string; file: string; mediaType: string }

/** An example of a request body. Files are only named, not included. */
export type ExampleBody = {
  kind: RequestKind
  mediaType: string
  value: unknown
  /** The body as it is sent; empty for a file and for a form with parts. */
  text: string
  parts: ExamplePart[]
  file: string
}

/** Returns an example of the body of a request, in its first media type. */
export function exampleRequestBody(document: Document, requestBody: Located<RequestBody>): ExampleBody {
  const [[name, media] = ['', {}]] = Object.entries(requestBody.content)
  // Items are text for an editor.
  const kind = ['events', 'lines'].includes(kindOf(name)) ? 'text' : requestKindOf(name)
  const mediaType = concreteType(name)
  const value = exampleOfRequest(document, media)
  const isFile = kind === 'bytes'
  return {
    kind,
    mediaType,
    value,
    text: isFile || kind === 'multipart' ? '' : textOf(value, mediaType, formStyles(document, requestBody.content)),
    parts: kind === 'multipart' ? partsOf(document, name, media, Object(value)) : [],
    file: isFile ? fileName('example', mediaType) : '',
  }
}

function textOf(value: unknown, mediaType: string, styles: ReturnType<typeof formStyles>): string {
  if (kindOf(mediaType) === 'events') return serializeEvent({ data: value }, (data) => String(stringifyJson(data)))
  if (kindOf(mediaType) === 'lines') return String(sentBody([value].flat(), mediaType).body).trimEnd()
  const isText = requestKindOf(mediaType) === 'text'
  if (isText) return typeof value === 'string' ? value : ''
  return String(sentBody(value ?? null, mediaType, styles).body)
}

function partsOf(
  document: Document,
  mediaType: string,
  media: MediaType,
  value: Record<string, unknown>,
): ExamplePart[] {
  const { fields } = formOf(document, mediaType, media)
  return fields.flatMap(({ name, kind, part }): ExamplePart[] => {
    if (!Object.hasOwn(value, name)) return []
    const [first = 'application/octet-stream'] = part?.mediaTypes ?? []
    const type = concreteType(first)
    if (part?.isFile) return [{ name, file: fileName(name, type), mediaType: type }]
    const items = part?.isItem ? [value[name]].flat() : [value[name]]
    return items.map((item) => ({
      name,
      text: typeof item === 'string' && kind !== 'json' ? item : String(stringifyJson(item)),
    }))
  })
}

/** Returns a name for a file of a media type. */
function fileName(name: string, mediaType: string): string {
  const [, subtype = ''] = /\/(?:x-)?([\w-]+)/.exec(mediaType) ?? []
  const ending = subtype === 'octet-stream' ? 'bin' : subtype
  return `${name.replace(/\W+/g, '-')}.${ending}`
}
