import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseJson } from '../../src/json/parse-json.ts'
import { type Document, type Endpoint, endpoints, type Located, type RequestBody } from '../../src/openapi/document.ts'
import { Validation } from '../../src/openapi/validator.ts'
import { exampleReply } from './examples.ts'

/** Prints the handlers that files of the contract ask for, unlike those that are in the directory. */
export async function printNewHandlers(files: Record<string, string>, directory: string): Promise<void> {
  const before = await readFile(join(directory, 'openapi.json'), 'utf8').then(JSON.parse, () => undefined)
  const handlers = newHandlers(JSON.parse(files['openapi.json'] as string), before)
  if (handlers.length > 0) console.log(`new, for src/handlers.ts:\n\n${handlers.join('\n\n')}\n`)
}

/**
 * Takes a document and the one before it; gives for each operation that is new a handler that compiles and answers with
 * the document's example, to be pasted into src/handlers.ts.
 */
export function newHandlers(document: Document, before: Document | undefined): string[] {
  const known = new Set(before && endpoints(before).map(({ operationId }) => operationId))
  return endpoints(document)
    .filter(({ operationId }) => operationId !== undefined && !known.has(operationId))
    .map((endpoint) => handlerOf(document, endpoint))
}

function handlerOf(document: Document, endpoint: Endpoint): string {
  const { operationId = '', parameters, requestBody } = endpoint
  const { status, body } = exampleReply(document, endpoint)
  const taken = [
    ...(requestBody === undefined ? [] : ['body']),
    ...parameters.map(({ in: kind, name }) => kind + (/^[\p{L}_$][\w$]*$/u.test(name) ? `.${name}` : `['${name}']`)),
  ]
  return [
    `  async ${operationId}() {`,
    ...(taken.length > 0 ? [`    // It takes ${taken.join(', ')}.`] : []),
    `    return { status: ${status}, body: ${literal(exact(document, endpoint, status, body))} }`,
    '  },',
  ].join('\n')
}

/** An int64 of an example is a number in the document, and a bigint in a reply. */
function exact(document: Document, { responses }: Endpoint, status: number, body: unknown): unknown {
  const response = responses[status]
  const [mediaType] = Object.keys(response?.content ?? {})
  if (response === undefined || mediaType === undefined) return body
  const validate = new Validation(document).body(response as Located<RequestBody>, mediaType)
  const read = validate(parseJson(JSON.stringify(body)))
  return 'error' in read ? body : read.value.value
}

/** Takes a value; gives its text as TypeScript. */
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
