import { expandPath, type ParameterPair, pairText } from 'fastify-contract/client'
import { kindOf, recordSeparator } from 'fastify-contract/contract'
import { stringifyJson } from 'fastify-contract/json'
import { resolve } from '../document/json-pointer.ts'
import { type Document, type Endpoint, endpoints, type Parameter } from '../document/openapi-document.ts'
import { holderOf } from '../document/parameter-objects.ts'
import type { Credential } from '../document/security-schemes.ts'
import { exampleOfRequest } from '../examples/examples.ts'
import { type ExampleBody, type ExamplePart, exampleParts, fileName } from '../examples/request-examples.ts'
import type { ValidRequest } from '../examples/valid-requests.ts'
import {
  isRequestLine,
  isRequestText,
  requestComment,
  requestJson,
  requestName,
  requestTitle,
  urlText,
} from '../text/foreign-text.ts'
import { lineText } from '../text/source-text.ts'

const credentialNote = `# fastify-contract mock accepts any token. To call a service, copy this file, since generate overwrites it, and set the
# origin and a token in the copy.`

/**
 * Returns the text of a file with one request for each operation, in the format that VS Code's REST Client and
 * JetBrains' HTTP Client share: https://http-files.org.
 *
 * @param valid Returns an operation with valid examples; default: with those of the document.
 */
export function requestFile(document: Document, valid: (endpoint: Endpoint) => ValidRequest = asGiven): string {
  const all: (ValidRequest & { request: RequestParts })[] = []
  const variables = new Set<string>()
  for (const given of endpoints(document)) {
    const checked = valid(given)
    const request = requestParts(document, checked.endpoint)
    all.push({ ...checked, request })
    for (const name of request.variables) variables.add(name)
  }
  const names = new Set([originName, ...variables])
  return [
    ...(variables.size > 0 ? [credentialNote] : []),
    '',
    `@${originName} = ${origin}`,
    ...[...variables].map((name) => `@${name} = ACCESS_TOKEN`),
    ...all.map((each) => `\n${requestText(document, each, names)}`),
    '',
  ].join('\n')
}

/** The name of the variable for the origin of the service. */
const originName = 'origin'

/** A service on this machine: one click must not send a DELETE to the server in production. */
const origin = 'http://127.0.0.1:3000'

const asGiven = (endpoint: Endpoint): ValidRequest => ({ endpoint })

function requestText(
  document: Document,
  { endpoint, invalidPart, request }: ValidRequest & { request: RequestParts },
  names: Set<string>,
): string {
  const { pointer, operationId, method } = endpoint
  const { summary = operationId } = resolve(document, pointer) as { summary?: string }
  return [
    `### ${requestTitle(String(summary))}`,
    `# @name ${requestName(operationId, names)}`,
    ...(invalidPart === undefined ? [] : [`# Correct the ${invalidPart}: the document has no valid example of it.`]),
    ...(request.files.length > 0 ? [`# Put ${request.files.join(' and ')} beside this file.`] : []),
    ...request.omitted.map((what) => `# Left out, since editors would change it: ${requestComment(what)}`),
    `${method} {{${originName}}}${request.path}`,
    // One query parameter per line, so that a user can delete a line.
    ...request.query.map((pair, index) => `    ${index === 0 ? '?' : '&'}${pair}`),
    ...request.headers,
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
  /** The headers and the parts of a form that no request file can hold. */
  omitted: string[]
}

/**
 * Returns an example request of an operation. It has the first example of the body, of each required parameter, and of
 * each optional parameter with an example. Its credentials are those of the first security requirement.
 */
export function requestParts(document: Document, endpoint: Endpoint): RequestParts {
  const exampleOf = (parameter: Parameter) => exampleOfRequest(document, holderOf(parameter))
  const { pairs, credentials, body } = exampleParts(document, endpoint, exampleOf)
  const placed = (location: Credential['in']) => credentials.filter((one) => one.in === location)
  const withVariable = (one: (typeof credentials)[number]) => `${one.prefix}{{${variableOf(one)}}}`
  const pairOf = (one: (typeof credentials)[number]): ParameterPair => [one.name, withVariable(one)]
  const placedPairs = (location: Credential['in']) => placed(location).map(pairOf)
  const cookies = [...pairs('cookie'), ...placedPairs('cookie')].map(pairText)
  // `given` is what the document determines.
  const headers: string[] = []
  const left: string[] = []
  const add = (name: string, value: string, given: string) =>
    headerName.test(name) && isRequestLine(lineText(given))
      ? headers.push(`${name}: ${lineText(value)}`)
      : left.push(`the header ${name}`)
  for (const one of placed('header')) add(one.name, withVariable(one), one.prefix)
  for (const [name, value] of pairs('header')) add(name, value, value)
  if (cookies.length > 0) add('Cookie', cookies.join('; '), '')
  if (body !== undefined) add('Content-Type', contentTypeOf(body), body.mediaType)
  const { text, files, omitted } = body === undefined ? noBody : bodyText(body)
  return {
    path: urlText(expandPath(endpoint.routes[0] as string, pairs('path'))),
    query: [...pairs('query'), ...placedPairs('query')].map(pairText),
    headers,
    ...(body && { body: text }),
    files,
    variables: credentials.map(variableOf),
    omitted: [...left, ...omitted],
  }
}

/** Returns the name of the variable for a credential. */
const variableOf = ({ scheme }: { scheme: string }): string => {
  const name = scheme.replace(/\W/g, '_')
  return name === originName ? `${name}_` : name
}

/** Matches the names of headers (RFC 9110 section 5.1) that no editor reads as something else. */
const headerName = /^[A-Za-z\d][\w!#$%&'*+.^`|~-]*$/

/** The boundary between the parts of a form. */
const boundary = 'example'

const contentTypeOf = ({ kind, mediaType }: ExampleBody): string =>
  kind === 'multipart' ? `${mediaType}; boundary=${boundary}` : mediaType

/** A body in a request file, the files that it refers to, and its parts that it does not contain. */
type BodyText = { text: string; files: string[]; omitted: string[] }

const noBody: BodyText = { text: '', files: [], omitted: [] }

const inFile = (file: string): BodyText => ({ text: `< ./${file}`, files: [file], omitted: [] })

function bodyText({ kind, mediaType, value, text, parts, file }: ExampleBody): BodyText {
  if (kind === 'json') return { ...noBody, text: requestJson(stringifyJson(value ?? null, '  ') as string) }
  if (kind === 'bytes') return inFile(file)
  if (kind === 'multipart') return formText(parts)
  const shown =
    kindOf(mediaType) === 'lines' ? text.split(recordSeparator).map(requestJson).join(recordSeparator) : text
  return isRequestText(shown) ? { ...noBody, text: shown } : inFile(fileName('example', mediaType))
}

function formText(parts: ExamplePart[]): BodyText {
  const all: ShownPart = { lines: [], files: [], omitted: [] }
  for (const { lines, files, omitted } of parts.map(shownPart)) {
    all.lines.push(...lines)
    all.files.push(...files)
    all.omitted.push(...omitted)
  }
  const { lines, ...more } = all
  return { ...more, text: [...lines, `--${boundary}--`].join('\n') }
}

type ShownPart = { lines: string[]; files: string[]; omitted: string[] }

function shownPart(part: ExamplePart): ShownPart {
  // The escapes of browsers (html.spec.whatwg.org, multipart form data).
  const name = part.name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22')
  if (!isRequestLine(name)) return { lines: [], files: [], omitted: [`the part ${part.name}`] }
  const head = `Content-Disposition: form-data; name="${name}"`
  const { text, files } = 'file' in part ? inFile(part.file) : partText(part)
  const lines =
    'file' in part
      ? [`${head}; filename="${part.file}"`, `Content-Type: ${part.mediaType}`, '', text]
      : [head, '', text]
  return { lines: [`--${boundary}`, ...lines], files, omitted: [] }
}

const partText = ({ name, text }: { name: string; text: string }): BodyText =>
  isRequestText(text) && !text.includes(`--${boundary}`) ? { ...noBody, text } : inFile(fileName(name, 'text/plain'))
