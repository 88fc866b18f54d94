import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exactReply, type Int64Replies, replyPlace } from '../../src/client/exact-reply.ts'
import { normalizedDocument } from './contract-files.ts'
import { exampleReply } from './examples.ts'
import type { Files } from './generated-files.ts'
import { int64Replies } from './int64-replies.ts'
import { type Document, type Endpoint, endpoints } from './openapi-document.ts'

/** Returns the document that was published in a directory, undefined when it is missing or in the middle of a merge. */
export const publishedIn = (directory: string): Promise<Document | undefined> =>
  readFile(join(directory, 'openapi.json'), 'utf8')
    .then(JSON.parse)
    .catch(() => undefined)

/** Prints the handlers that generated files ask for and the document before them did not. */
export function printHandlerStubs(files: Files, before: Document | undefined): void {
  const handlers = handlerStubs(JSON.parse(files['openapi.json'] as string), before)
  if (handlers.length > 0) console.log(`new, for src/handlers.ts:\n\n${handlers.join('\n\n')}\n`)
}

/**
 * Returns, for each operation that a document has and the one before it has not, a handler that compiles and answers with
 * the document's example, to be pasted into src/handlers.ts.
 */
export function handlerStubs(given: Document, before: Document | undefined): string[] {
  const document = normalizedDocument(given)
  const { table } = int64Replies(document)
  const known = new Set(before && endpoints(before).map(({ operationId }) => operationId))
  return endpoints(document)
    .filter(({ operationId }) => !known.has(operationId))
    .map((endpoint) => stubOf(document, table, endpoint))
}

function stubOf(document: Document, table: Int64Replies, endpoint: Endpoint): string {
  const { operationId, method, path, parameters, requestBody } = endpoint
  const { status, body } = exampleReply(document, endpoint)
  const taken = [
    ...(requestBody === undefined ? [] : ['body']),
    ...parameters.map(({ in: kind, name }) => kind + (/^[\p{L}_$][\w$]*$/u.test(name) ? `.${name}` : `['${name}']`)),
  ]
  return [
    `  async ${operationId}() {`,
    ...(taken.length > 0 ? [`    // It takes ${taken.join(', ')}.`] : []),
    `    return { status: ${status}, body: ${literal(exact(table, `${method} ${path}`, status, body))} }`,
    '  },',
  ].join('\n')
}

/** An int64 of an example is a number in the document, and a bigint in a reply. */
function exact(table: Int64Replies, operation: string, status: number, body: unknown): unknown {
  const place = replyPlace(table, operation, status)
  return place === undefined || body === undefined ? body : exactReply(JSON.stringify(body), table, place)
}

/** Returns the text of a value as TypeScript. */
function literal(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const members = Object.entries(value).map(([name, member]) => {
    return `${/^[a-z_$][\w$]*$/i.test(name) ? name : `'${name}'`}: ${literal(member)}`
  })
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}
