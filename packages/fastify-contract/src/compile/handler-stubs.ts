import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { negotiation } from '../serve/content-negotiation.ts'
import { isRange } from '../serve/media-types.ts'
import type { Operation, Routes } from '../serve/routes.ts'
import type { Outcome } from '../serve/send-response.ts'
import { createValidator } from '../serve/validator.ts'
import { normalizedDocument } from './contract-files.ts'
import { exampleResponse, generatedResponses, isShownStream } from './examples.ts'
import type { Files } from './generated-files.ts'
import { type Document, type Endpoint, endpoints, type RequestBody } from './openapi-document.ts'
import { sendableResponse } from './sendable-responses.ts'
import { literal, memberOf, quotedName, stringLiteral } from './source-text.ts'
import { uncompilable } from './stub-compilation.ts'

/** Returns the published document in a directory, or undefined if it is missing or is not JSON, as during a merge. */
export const publishedIn = (directory: string): Promise<Document | undefined> =>
  readFile(join(directory, 'openapi.json'), 'utf8')
    .then(JSON.parse)
    .catch(() => undefined)

/**
 * Returns a handler that compiles for each operation that is not in the document `before`, to paste into
 * src/handlers.ts. The handler returns the document's example, or else a value that is built from the schema. If
 * neither satisfies the schema and its type, the handler throws an error.
 */
export function handlerStubs(files: Files, before: Document | undefined): string[] {
  const { 'openapi.json': published = '', 'routes.json': routesText = '', 'api.d.ts': types = '' } = files
  const document = normalizedDocument(JSON.parse(published))
  const { operations, schemas }: Routes = JSON.parse(routesText)
  const validator = createValidator(schemas)
  const known = new Set(before && endpoints(before).map(({ operationId }) => operationId))
  const byId = new Map(operations.map((operation) => [operation.operationId, operation]))
  const choices = endpoints(document)
    .filter(({ operationId }) => !known.has(operationId))
    .map((endpoint) => {
      const operation = byId.get(endpoint.operationId) as Operation
      const returns = [exampleResponse(document, endpoint), ...generatedResponses(document, endpoint)]
        .flatMap((reply) => sendableResponse(validator, operation, reply) ?? [])
        .map((outcome) => `return ${literalOf(outcome)}`)
      const isNegotiated = negotiation(operation.schema) !== undefined
      return [...returns, notWritten].map((statement) => stubOf(endpoint, isNegotiated, statement))
    })
  return compiled(choices, types)
}

/** Returns the first choice of each handler that compiles. The last choice always compiles, since it only throws. */
function compiled(choices: string[][], types: string): string[] {
  const first = choices.map(([choice]) => choice as string)
  if (choices.every(({ length }) => length === 1)) return first
  const failed = uncompilable(first, types)
  const next = choices.map((each, index) => (failed.has(index) && each.length > 1 ? each.slice(1) : each))
  return next.every((each, index) => each === choices[index]) ? first : compiled(next, types)
}

/** Returns the expression of an outcome, on one line if it has no headers or fits into 110 columns. */
function literalOf({ status, headers, contentType, body }: Outcome): string {
  const membersOf = (indent: string) => [
    `status: ${status}`,
    ...(headers === undefined ? [] : [`headers: ${literal(headers, 110, indent)}`]),
    ...(contentType === undefined ? [] : [`contentType: ${stringLiteral(contentType)}`]),
    `body: ${bodyText(body, indent)}`,
  ]
  const line = `{ ${membersOf('    ').join(', ')} }`
  if (headers === undefined || (line.length <= 110 && !line.includes('\n'))) return line
  return `{\n${membersOf('      ')
    .map((member) => `      ${member},\n`)
    .join('')}    }`
}

function bodyText(body: unknown, indent: string): string {
  if (body instanceof Uint8Array) return 'new Uint8Array()'
  if (!isShownStream(body)) return literal(body, 110, indent)
  const yields = body.items.map((item) => `${indent}  yield ${literal(item, 110, `${indent}  `)}\n`)
  return `(async function* () {\n${yields.join('')}${indent}})()`
}

const notWritten = "throw new Error('this handler is not written yet')"

const hasSeveralTypes = ({ content }: RequestBody): boolean =>
  Object.keys(content).length > 1 || Object.keys(content).some(isRange)

function stubOf({ operationId, parameters, requestBody }: Endpoint, isNegotiated: boolean, statement: string): string {
  const taken = [
    ...(isNegotiated ? ['accept'] : []),
    ...(requestBody === undefined ? [] : ['body']),
    ...(requestBody !== undefined && hasSeveralTypes(requestBody) ? ['contentType'] : []),
    ...parameters.map(({ in: kind, name }) => memberOf(kind, name)),
  ]
  return [
    `  async ${quotedName(operationId)}() {`,
    ...(taken.length > 0 ? [`    // It takes ${taken.join(', ')}.`] : []),
    `    ${statement}`,
    '  },',
  ].join('\n')
}
