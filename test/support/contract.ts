import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { errorNumbers } from '../../generated/error-numbers.ts'
import type { Document } from '../../scripts/generate/openapi-document.ts'
import { loadContract } from '../../src/openapi/load-contract.ts'

/** What the service loads of generated/. */
export const contract = await loadContract(new URL('../../generated/', import.meta.url))

export const document: Document = JSON.parse(contract.documentText)

/** The numbers of the contract's table of errors. */
export const tableOfErrors: number[] = Object.values(errorNumbers)

export type Answer = { method: string; path: string; status: number; headers: Record<string, unknown>; body: string }

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema(document as object, 'document')

type Item = Record<string, { responses?: Record<string, unknown> }>

/** What is asked of a test here; a tap test has it. */
export type Assertions = {
  ok(value: unknown, ...message: [] | [string]): unknown
  equal(found: unknown, wanted: unknown): unknown
  same(found: unknown, wanted: unknown): unknown
  match(found: unknown, pattern: RegExp): unknown
  type(found: unknown, type: string): unknown
}

/** Fails the test unless an answer is one that the contract lists: status, media type, headers and body. */
export function assertAnswer(t: Assertions, { method, path, status, headers, body }: Answer): void {
  const item = (document.paths?.[path.replace(/[?#].*$/, '')] ?? {}) as Item
  const operation = item[method.toLowerCase()]
  const listed = operation?.responses?.[status] === undefined ? 'default' : String(status)
  if (operation === undefined || listed === 'default') t.ok(status >= 400, `${status} is an error`)
  if (status === 401) t.match(headers['www-authenticate'], /^Bearer realm="plant-store"(, error="invalid_token")?$/)
  if (status === 405) t.type(headers.allow, 'string')
  if (status === 415) t.ok(headers.accept ?? headers['accept-encoding'])
  if (status === 503 || status === 429) t.match(headers['retry-after'], /^\d+$/)
  t.match(headers['x-request-id'], /^[\w.-]{1,128}$/)
  t.equal(headers['content-type'], 'application/json; charset=utf-8')
  if (method === 'HEAD') return
  const value = JSON.parse(body)
  const at =
    operation === undefined
      ? '#/components/schemas/Error'
      : `#/paths/${encodeURIComponent(path.replace(/[?#].*$/, '').replaceAll('/', '~1'))}/${method.toLowerCase()}/responses/${listed}/content/application~1json/schema`
  t.ok(ajv.validate(`document${at}`, value), `${status} body has its schema: ${ajv.errorsText()}`)
  if (status < 400) return
  t.ok(tableOfErrors.includes(value.error), `${value.error} is in the table of errors`)
  t.equal(Math.trunc(value.error / 100), status)
  t.same(Object.keys(value), ['error', 'message'])
}
