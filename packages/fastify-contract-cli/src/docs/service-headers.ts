import { acceptQuery } from 'fastify-contract/contract'
import { announcementOf, deprecationHeaders } from '../document/deprecation.ts'
import { hasKeyHeader } from '../document/idempotency-keys.ts'
import { join, resolve } from '../document/json-pointer.ts'
import { type Document, endpoints, locate, type Response } from '../document/openapi-document.ts'
import type { Node } from '../document/walk-document.ts'
import { asOpenApi31 } from '../passes/openapi-3-1.ts'
import { markdownTarget } from '../text/foreign-text.ts'
import { addPreconditionParameters } from './precondition-parameters.ts'

/** Marks a response that was stored for its idempotency key. */
const replayed = 'Idempotent-Replayed'

/** The headers that the service adds to responses, by name. */
const descriptions = {
  'Accept-Query': 'The media types of a QUERY to this path (RFC 10008 section 3).',
  Deprecation: 'When the operation is deprecated, in seconds since 1970 (RFC 9745).',
  Sunset: 'After this time, the operation may stop working (RFC 8594).',
  Link: 'The page that explains the deprecation or the end of the operation (RFC 8288).',
  RateLimit: 'How many requests the client has left (r), and for how many seconds (t), if the service limits them.',
  'RateLimit-Policy': 'How many requests a client may send (q) in how many seconds (w), if the service limits them.',
  [replayed]: 'Present if this is the stored response to an earlier request with the same Idempotency-Key.',
} as const

const examples: Record<string, string> = {
  RateLimit: '"default";r=50;t=30',
  'RateLimit-Policy': '"default";q=100;w=60',
}

/** What a client of an operation with idempotency keys must know, in Markdown. */
const keySentence =
  '**Safe to retry.** A repeated request with the same `Idempotency-Key` and the same content gets the stored response. ' +
  'While the first one is in progress, it gets 409 with `Retry-After`; with other content, it gets 422.'

/**
 * Returns a published document for its documentation page, in which each response shows the headers that the service
 * adds: those that announce the end of the operation, the media types of a QUERY to its path, the rate limit of an
 * operation that identifies its clients, and the mark of a stored response. The parameters of an operation have the
 * preconditions that it evaluates. Its description begins with the announcement, and with how to use its idempotency keys.
 */
export function withServiceHeaders(published: Document): Document {
  const document = asOpenApi31(published)
  const copy = structuredClone(published)
  addPreconditionParameters(copy)
  const used = new Set<string>()
  const queries = new Map<string, string[]>()
  for (const { method, path, requestBody } of endpoints(document))
    if (method === 'QUERY')
      queries.set(path, [...(queries.get(path) ?? []), ...Object.keys(requestBody?.content ?? {})])
  for (const endpoint of endpoints(document)) {
    const operation = resolve(copy, endpoint.pointer) as Node
    const query = acceptQuery(queries.get(endpoint.path) ?? [])
    const announced = { ...deprecationHeaders(document, endpoint), ...(query !== '' && { 'Accept-Query': query }) }
    const isLimited = endpoint.security.some((requirement) => Object.keys(requirement).length > 0)
    const added: [name: string, header: object][] = [
      ...Object.entries(announced).map(([name, example]): [string, object] => [name, headerOf(name, example)]),
      ...(isLimited ? Object.keys(examples) : []).map((name): [string, object] => {
        used.add(name)
        return [name, { $ref: join('#', 'components', 'headers', name) }]
      }),
    ]
    const isKeyed = hasKeyHeader(endpoint)
    if (added.length === 0 && !isKeyed) continue
    operation.responses = Object.fromEntries(
      Object.keys(endpoint.responses).map((status) => {
        const { pointer: _, ...response } = locate<Response>(copy, join(endpoint.pointer, 'responses', status))
        // A response above 499 is not stored.
        const stored = isKeyed && !status.startsWith('5') ? { [replayed]: headerOf(replayed, 'true') } : {}
        return [status, { ...response, headers: { ...Object.fromEntries(added), ...stored, ...response.headers } }]
      }),
    )
    const sentence = [announcement(document, endpoint), ...(isKeyed ? [keySentence] : [])].filter(Boolean).join('\n\n')
    if (sentence !== '') operation.description = `${sentence}\n\n${operation.description ?? ''}`
  }
  if (used.size === 0) return copy
  const components = (copy.components ?? {}) as { headers?: object }
  const headers = Object.fromEntries([...used].map((name) => [name, headerOf(name, examples[name] as string)]))
  return { ...copy, components: { ...components, headers: { ...headers, ...components.headers } } }
}

const headerOf = (name: string, example: string): object => ({
  description: descriptions[name as keyof typeof descriptions],
  schema: { type: 'string' },
  example,
})

/** Returns a sentence in Markdown for each announcement of an operation. */
function announcement(document: Document, endpoint: ReturnType<typeof endpoints>[number]): string {
  const sentences = [
    ['x-deprecation', 'Deprecated since'],
    ['x-sunset', 'May stop working after'],
  ] as const
  const texts: string[] = []
  for (const [extension, words] of sentences) {
    const found = announcementOf(document, endpoint, extension)
    if (found === undefined) continue
    const date = found.date.toISOString().replace(/T00:00:00\.000Z$/, '')
    texts.push(`**${words} ${date}.**${found.link === undefined ? '' : ` [Details](${markdownTarget(found.link)})`}`)
  }
  return texts.join(' ')
}
