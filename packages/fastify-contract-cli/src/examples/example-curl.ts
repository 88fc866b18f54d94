import { examplePlaceholders } from 'fastify-contract/contract'
import { stringifyJson } from 'fastify-contract/json'
import { type Document, type Endpoint, endpoints } from '../document/openapi-document.ts'
import { shownRequirement, takesToken } from '../document/security-schemes.ts'
import { shellWord, urlText } from '../text/foreign-text.ts'
import { lineText } from '../text/source-text.ts'
import { type ExampleRequest, exampleRequest } from './example-request.ts'
import type { ExampleBody } from './request-examples.ts'
import type { ValidRequest } from './valid-requests.ts'

/**
 * Returns a curl command that calls an operation of a document at the placeholder of a URL with that of a token: the first
 * one whose response is a success, that needs no file, and whose credentials a token can be. If there is none, these count
 * in this order. Returns undefined if no operation has a valid example.
 *
 * @param isSuccess Returns whether a handler can return a response with a status of 2xx.
 */
export function exampleCurl(
  document: Document,
  valid: (endpoint: Endpoint) => ValidRequest,
  isSuccess: (endpoint: Endpoint) => boolean,
): string | undefined {
  let best: { command: string; worth: number } | undefined
  for (const given of endpoints(document)) {
    const { endpoint, invalidPart } = valid(given)
    if (invalidPart !== undefined) continue
    const request = exampleRequest(document, endpoint, { token: examplePlaceholders.token })
    const base = new URL(request.server).pathname.replace(/\/$/, '')
    const command = curl({ ...request, server: examplePlaceholders.url + base })
    if (command === undefined) continue
    const worth =
      4 * Number(isSuccess(endpoint)) +
      2 * Number(!hasFile(request.sent)) +
      Number(takesToken(document, shownRequirement(document, endpoint.security)))
    if (worth > (best?.worth ?? -1)) best = { command, worth }
    if (worth === 7) break
  }
  return best?.command
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
