import { clientMethods } from 'fastify-contract/client'
import { essenceOf, kindOf } from 'fastify-contract/contract'
import { stringifyJson } from 'fastify-contract/json'
import { createValidator } from 'fastify-contract/schema'
import { resolve } from '../document/json-pointer.ts'
import { type Document, type Endpoint, endpoints } from '../document/openapi-document.ts'
import type { Generated } from '../emit/generated-files.ts'
import { routesOf } from '../emit/route-table.ts'
import { curl } from '../examples/example-curl.ts'
import { type ExampleRequest, exampleRequest } from '../examples/example-request.ts'
import type { ExampleBody, ExamplePart } from '../examples/request-examples.ts'
import { validRequests } from '../examples/valid-requests.ts'
import { normalizedDocument } from '../passes/normalize.ts'
import { markdownCode } from '../text/foreign-text.ts'
import { keyOf, literal, stringLiteral } from '../text/source-text.ts'

/** The languages of the samples in page order. Redoc finds a sample by its label. */
export const sampleLanguages = [
  { lang: 'curl', label: 'curl' },
  { lang: 'javascript', label: 'TypeScript client' },
  { lang: 'javascript', label: 'fetch' },
]

/** One entry of x-codeSamples, as Redoc reads it. */
export type CodeSample = { lang: string; label: string; source: string }

/** What a document was compiled to, of which samples are made. */
export type Sampled = Pick<Generated, 'document' | 'validRequest'>

function compiledFrom(published: Document): Sampled {
  const document = normalizedDocument(published)
  const routes = routesOf(document)
  return { document, validRequest: validRequests(document, routes, createValidator(routes.schemas)) }
}

/**
 * Returns a published document for its documentation page. Each operation has samples of its example request, unless it
 * has x-codeSamples already or has no valid example. Its description begins with its method, path and operationId, which
 * Redoc shows only beside or below the description, or not at all, and which the page's search then finds.
 *
 * @param clientModule The module that the samples import createClient from.
 * @param compiled What the document was compiled to; by default it is compiled again, which takes most of the time.
 */
export function withCodeSamples(
  published: Document,
  clientModule: string,
  { document, validRequest }: Sampled = compiledFrom(published),
): Document {
  const copy = structuredClone(published)
  for (const given of endpoints(document)) {
    const { endpoint, invalidPart } = validRequest(given)
    const operation = resolve(copy, endpoint.pointer) as { description?: string; 'x-codeSamples'?: CodeSample[] }
    operation['x-codeSamples'] ??=
      invalidPart === undefined
        ? codeSamples(exampleRequest(document, endpoint), clientModule, successForm(endpoint))
        : []
    operation.description =
      `${markdownCode(`${endpoint.method} ${endpoint.path}`)}, operation id ${markdownCode(endpoint.operationId)}\n\n${operation.description ?? ''}`.trimEnd()
  }
  return copy
}

/**
 * Returns the samples of a request. Omits the sample for the client if the client does not support the method, and each
 * sample of JavaScript for a GET with a body, which fetch cannot send.
 */
function codeSamples(request: ExampleRequest, clientModule: string, form: SuccessForm): CodeSample[] {
  const isOfFetch = request.method !== 'GET' || request.sent === undefined
  const isOfClient = isOfFetch && clientMethods.some((method) => method === request.method)
  const sources = [
    curl(request),
    isOfClient ? client(request, clientModule, form) : undefined,
    isOfFetch ? fetchCall(request) : undefined,
  ]
  return sampleLanguages.flatMap((language, index) => {
    const source = sources[index]
    return source === undefined ? [] : { ...language, source }
  })
}

/** What the client makes of a success: JSON and items by itself, other forms with `parseAs`. */
type SuccessForm = 'json' | 'items' | 'text' | 'blob'

/** Returns the form of the success of an operation. A range that may include JSON counts as JSON. */
function successForm({ method, responses }: Endpoint): SuccessForm {
  const types = Object.entries(responses).flatMap(([status, { content = {} }]) =>
    status.startsWith('2') ? Object.keys(content) : [],
  )
  const kinds = types.map((type) => (['*/*', 'application/*'].includes(essenceOf(type)) ? 'json' : kindOf(type)))
  if (method === 'HEAD' || kinds.length === 0 || kinds.includes('json')) return 'json'
  const isItems = (kind: string) => kind === 'lines' || kind === 'events'
  if (kinds.every(isItems)) return 'items'
  return kinds.every((kind) => isItems(kind) || kind === 'text') ? 'text' : 'blob'
}

/** The media type that the client sends by default. */
const json = 'application/json'

function client(
  { method, server, path, params, headers, body, sent, credentials }: ExampleRequest,
  clientModule: string,
  form: SuccessForm,
): string {
  const { Authorization = '', ...keys } = credentials
  const [authScheme, token] = Authorization.split(' ')
  const isBearer = authScheme === 'Bearer'
  const options = { baseUrl: server, ...(isBearer && { token }) }
  const { 'Content-Type': mediaType = json, 'If-Match': ifMatch, Cookie } = headers
  // A browser sets cookies itself, so the client has no cookie parameters. Its types do not allow an API key in the
  // query either; the option fetch of createClient can add it.
  const { cookie: _, ...others } = params
  const more = {
    ...(isBearer ? keys : credentials),
    ...(Cookie !== undefined && { Cookie }),
  }
  const sample = sent === undefined ? { lines: [], body: undefined } : clientBody(body, sent)
  const init = {
    ...(Object.keys(others).length > 0 && { params: others }),
    ...(Object.keys(more).length > 0 && { headers: more }),
    ...(ifMatch !== undefined && !Object.hasOwn(params.header ?? {}, 'If-Match') && { ifMatch }),
    ...((form === 'text' || form === 'blob') && { parseAs: form }),
    ...(mediaType !== json && { contentType: mediaType }),
    ...(sent !== undefined && { body: sample.body }),
  }
  const argument = Object.keys(init).length > 0 ? `, ${withVariable(literal(init, sampleWidth), sample)}` : ''
  return `import { createClient } from ${stringLiteral(clientModule)}

const client = createClient(${literal(options, sampleWidth)})
${sample.lines.map((line) => `${line}\n`).join('')}const { data, error, response } = await client.${method}(${stringLiteral(path)}${argument})
${form === 'items' ? printItems : 'console.log(response.status, data ?? error)'}`
}

const printItems = `console.log(response.status, error)
for await (const item of data ?? []) console.log(item)`

function fetchCall({ method, server, target, headers: all, body, sent }: ExampleRequest): string {
  const sample = sent === undefined ? { lines: [], body: undefined } : fetchBody(body, sent)
  const { 'Content-Type': _, ...others } = all
  // fetch sets the boundary of a form itself.
  const headers = sent?.kind === 'multipart' ? others : all
  const init = {
    ...(method !== 'GET' && { method }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(sent !== undefined && { body: sample.body }),
  }
  const more = Object.keys(init).length > 0 ? `, ${withVariable(literal(init, sampleWidth), sample)}` : ''
  return `${sample.lines.map((line) => `${line}\n`).join('')}const response = await fetch(${stringLiteral(server + target)}${more})
console.log(response.status, await response.text())`
}

/** The number of columns of a line in the samples of the documentation page. */
export const sampleWidth = 56

/** A body in a sample: the statements before the call, and the value in the call. */
export type BodySample = { lines: string[]; body: unknown }

/** A placeholder in a literal for the variable that the statements declare. */
const variable = '{{body}}'

/** Returns a literal whose last member is the body, with the variable `body` in place of its placeholder. */
export function withVariable(text: string, { lines }: BodySample): string {
  const member = `body: '${variable}'`
  const at = lines.length === 0 ? -1 : text.lastIndexOf(member)
  return at < 0 ? text : `${text.slice(0, at)}body${text.slice(at + member.length)}`
}

const blob = (file: string, mediaType: string): string =>
  `new Blob([${stringLiteral(`the bytes of ${file}`)}], { type: ${stringLiteral(mediaType)} })`

const blobSample = ({ file, mediaType }: ExampleBody): BodySample => ({
  lines: [`const body = ${blob(file, mediaType)}`],
  body: variable,
})

/** Returns a body for the generated client; `exact` is its value with each int64 as a bigint. */
export function clientBody(exact: unknown, sent: ExampleBody): BodySample {
  const { kind, parts } = sent
  if (kind === 'bytes') return blobSample(sent)
  if (kind !== 'multipart') return { lines: [], body: kind === 'text' ? sent.text : exact }
  const blobs = new Map<string, string[]>()
  for (const part of parts) {
    const files = blobs.get(part.name) ?? []
    blobs.set(part.name, 'file' in part ? [...files, blob(part.file, part.mediaType)] : files)
  }
  const members: string[] = []
  for (const [name, files] of blobs) {
    const value = (exact as Record<string, unknown>)[name]
    const text = Array.isArray(value) ? `[${files.join(', ')}]` : files[0]
    members.push(`  ${keyOf(name)}: ${files.length > 0 ? text : literal(value, sampleWidth, '  ')},`)
  }
  return { lines: ['const body = {', ...members, '}'], body: variable }
}

const partValue = (part: ExamplePart): string =>
  'file' in part ? blob(part.file, part.mediaType) : stringLiteral(part.text)

/** Returns a body for `fetch`: as text if possible, because JavaScript numbers round an int64. */
export function fetchBody(exact: unknown, sent: ExampleBody): BodySample {
  const { kind, text, parts } = sent
  if (kind === 'bytes') return blobSample(sent)
  if (kind !== 'multipart') return { lines: [], body: kind === 'json' ? stringifyJson(exact) : text }
  const appended = parts.map((part) => {
    const name = 'file' in part ? `, ${stringLiteral(part.file)}` : ''
    return `body.append(${stringLiteral(part.name)}, ${partValue(part)}${name})`
  })
  return { lines: ['const body = new FormData()', ...appended], body: variable }
}
