import { examplePlaceholders } from 'fastify-contract/contract'
import { stringifyJson } from 'fastify-contract/json'
import { type Document, type Endpoint, endpoints } from '../document/openapi-document.ts'
import { shellWord, urlText } from '../text/foreign-text.ts'
import { lineText } from '../text/source-text.ts'
import { type ExampleRequest, exampleRequest } from './example-request.ts'
import type { ExampleBody } from './request-examples.ts'
import type { ValidRequest } from './valid-requests.ts'

/**
 * Returns a curl command that calls the first operation of a document at the placeholder of a URL with that of a token; of
 * the operations that need no file, if there is one. Returns undefined if no operation has a valid example.
 */
export function exampleCurl(document: Document, valid: (endpoint: Endpoint) => ValidRequest): string | undefined {
  let withFile: string | undefined
  for (const given of endpoints(document)) {
    const { endpoint, invalidPart } = valid(given)
    if (invalidPart !== undefined) continue
    const request = exampleRequest(document, endpoint, { token: examplePlaceholders.token })
    const base = new URL(request.server).pathname.replace(/\/$/, '')
    const command = curl({ ...request, server: examplePlaceholders.url + base })
    if (!hasFile(request.sent)) return command
    withFile ??= command
  }
  return withFile
}

const hasFile = (sent: ExampleBody | undefined): boolean =>
  sent !== undefined && (sent.kind === 'bytes' || sent.parts.some((part) => 'file' in part))

/**
 * Returns a curl command that sends a request. Undefined if the name of a part has an equals sign, which ends a name for
 * curl: what follows could be a file of the user.
 */
export function curl({ method, server, target, headers, body, sent }: ExampleRequest): string | undefined {
  if (sent?.parts.some(({ name }) => name.includes('='))) return undefined
  // With -X HEAD curl would wait for a body.
  const usual = { GET: sent === undefined ? '' : undefined, HEAD: '--head ' }[method]
  const verb = usual ?? `-X ${method} `
  // In brackets, curl expects the ranges of a set of URLs.
  const glob = /[[\]]/.test(target) ? '-g ' : ''
  const lines = [`curl ${glob}${verb}${shellWord(urlText(server + target))}`]
  for (const [name, value] of Object.entries(headers)) {
    // curl sets the boundary of a form itself. For curl, an at sign precedes the name of a file.
    const isLeftOut = (sent?.kind === 'multipart' && name === 'Content-Type') || name.startsWith('@')
    if (!isLeftOut) lines.push(`-H ${shellWord(lineText(`${name}: ${value}`))}`)
  }
  if (sent !== undefined) lines.push(...curlBody(body, sent))
  return lines.join(' \\\n  ')
}

function curlBody(body: unknown, { kind, text, parts, file }: ExampleBody): string[] {
  if (kind === 'json') return [`-d ${shellWord(stringifyJson(body) as string)}`]
  if (kind === 'bytes') return [`--data-binary ${shellWord(`@${file}`)}`]
  if (kind !== 'multipart') return [`--data-raw ${shellWord(text)}`]
  return parts.map((part) =>
    'file' in part
      ? `-F ${shellWord(`${part.name}=@${part.file};type=${part.mediaType}`)}`
      : `--form-string ${shellWord(`${part.name}=${part.text}`)}`,
  )
}
