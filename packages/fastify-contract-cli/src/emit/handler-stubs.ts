import {
  contentNegotiation,
  type HandlerResponse,
  isRange,
  kindOf,
  type MediaKind,
  type Operation,
} from 'fastify-contract/contract'
import {
  byOperationId,
  type Document,
  type Endpoint,
  endpoints,
  type RequestBody,
} from '../document/openapi-document.ts'
import { type ExampleOrigin, isExampleStream } from '../examples/examples.ts'
import { sendableResponses, successes } from '../examples/sendable-responses.ts'
import { lineText, literal, memberOf, quotedName, stringLiteral } from '../text/source-text.ts'
import { returnability } from './assignable-values.ts'
import type { Generated } from './generated-files.ts'

/**
 * Returns a handler that compiles for each operation that is not in the document `before`, to paste into the module of
 * handlers. The handler returns the document's example, or else a value that is made from the schema. If the operation
 * has no response below 400, or no value satisfies its schema and its type, the handler responds with 501. A comment says
 * which of them it is.
 */
export function handlerStubs({ document, routes, contract }: Generated, before: Document | undefined): string[] {
  const known = byOperationId(before === undefined ? [] : endpoints(before))
  const added = endpoints(document).filter(({ operationId }) => !known.has(operationId))
  if (added.length === 0) return []
  const sendable = sendableResponses(contract)
  const isReturnable = returnability(document)
  const byId = byOperationId(routes.operations)
  return added.map(stubFor)

  function stubFor(endpoint: Endpoint): string {
    const operation = byId.get(endpoint.operationId) as Operation
    const isNegotiated = contentNegotiation(operation.schema) !== undefined
    return stubOf(endpoint, operation, isNegotiated, statementsOf(endpoint, operation))
  }

  /** Returns the statements with the first response that compiles. */
  function statementsOf(endpoint: Endpoint, operation: Operation): Statements {
    for (const { outcome, origin } of successes(document, sendable, endpoint)) {
      if (!isReturnable(endpoint, outcome)) continue
      const checked = isChecked(operation) && outcome.status < 300 ? checkOf(operation) : undefined
      const read = readingOf(endpoint)
      return {
        used: [...read.used, ...(checked === undefined ? [] : ['preconditions'])],
        lines: [...read.lines, `// ${noteOf(outcome, origin)}`, `return ${literalOf(outcome, checked)}`],
      }
    }
    return { used: [], lines: notWritten(endpoint) }
  }
}

/** The statements of a handler, and the members of its argument that they use. */
type Statements = { used: string[]; lines: string[] }

/** What a handler calls an item of a body that is validated as the handler reads it. */
const itemNames: Partial<Record<MediaKind, string>> = { multipart: 'part', lines: 'item', events: 'event' }

/**
 * Returns the statements that read a body which is validated only as the handler reads it, so that an invalid one gets 400.
 */
function readingOf({ requestBody }: Endpoint): Statements {
  if (requestBody === undefined) return { used: [], lines: [] }
  const types = Object.keys(requestBody.content).filter(
    (type) => !isRange(type) && itemNames[kindOf(type)] !== undefined,
  )
  const [first] = types
  if (first === undefined) return { used: [], lines: [] }
  const names = new Set(types.map((type) => itemNames[kindOf(type)] as string))
  const name = names.size === 1 ? ([...names][0] as string) : 'item'
  const isTyped = hasSeveralTypes(requestBody)
  const condition = types.map((type) => `contentType === ${stringLiteral(type)}`).join(' || ')
  // `contentType` tells an optional body that is missing from the others.
  const body = isTyped || requestBody.required ? 'body' : 'body ?? []'
  return {
    used: isTyped ? ['body', 'contentType'] : ['body'],
    lines: [
      `// Each ${name} is validated as it is read. This example drops it.`,
      `${isTyped ? `if (${condition}) ` : ''}for await (const _${name} of ${body});`,
    ],
  }
}

/** Returns whether the handler of an operation checks preconditions. */
const isChecked = ({ preconditions }: Operation): boolean => preconditions?.of === 'write'

/** The expression of each validator of a resource. */
const validators = { etag: `etag: '"1"'`, lastModified: 'lastModified: new Date(0)' }

/** Returns the expression that checks preconditions for a resource that exists. */
function checkOf({ preconditions }: Operation): string {
  const given = (preconditions?.validators ?? []).map((name) => validators[name])
  return `preconditions.check(${given.length === 0 ? '{}' : `{ ${given.join(', ')} }`})`
}

/**
 * Returns the expression of an outcome, on one line if it has no headers or fits into 110 columns. `checked` is the
 * expression of the member of that name.
 */
export function literalOf({ status, headers, contentType, body }: HandlerResponse, checked?: string): string {
  const membersOf = (indent: string) => [
    `status: ${status}`,
    ...(checked === undefined ? [] : [`checked: ${checked}`]),
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
  if (!isExampleStream(body)) return literal(body, 110, indent)
  const yields = body.items.map((item) => `${indent}  yield ${literal(item, 110, `${indent}  `)}\n`)
  return `(async function* () {\n${yields.join('')}${indent}})()`
}

function noteOf({ body }: HandlerResponse, origin: ExampleOrigin | undefined): string {
  if (body === undefined) return 'The response has no body.'
  if (origin === 'parts') return 'Made from the schema and the examples of its parts.'
  return origin === 'whole'
    ? 'The example of the document.'
    : 'Made from the schema; the document has no valid example.'
}

/** Returns the statements of a handler that responds with 501. */
const notWritten = ({ operationId, responses }: Endpoint): string[] => [
  Object.keys(responses).every((status) => /^[45]/.test(status))
    ? '// The document lists errors only, so the response is 501.'
    : '// No valid response can be made from the document, so the response is 501.',
  `throw new ContractError('notImplemented', ${stringLiteral(`${operationId} is not written yet`)})`,
]

const hasSeveralTypes = ({ content }: RequestBody): boolean =>
  Object.keys(content).length > 1 || Object.keys(content).some(isRange)

function stubOf(endpoint: Endpoint, operation: Operation, isNegotiated: boolean, { used, lines }: Statements): string {
  const { method, path, operationId, parameters, requestBody } = endpoint
  const taken = [
    ...(isNegotiated ? ['accept'] : []),
    ...(requestBody === undefined ? [] : ['body']),
    ...(requestBody !== undefined && hasSeveralTypes(requestBody) ? ['contentType'] : []),
    ...parameters.map(({ in: kind, name }) => memberOf(kind, name)),
    ...(isChecked(operation) ? ['preconditions'] : []),
  ]
  // Without the return type, TypeScript accepts misspelt optional properties, and reports errors at the handler's name.
  const result = `ReturnType<Handlers[${stringLiteral(operationId)}]>`
  return [
    `  // ${lineText(`${method} ${path}`)}${taken.length > 0 ? ` takes ${taken.join(', ')}` : ''}`,
    `  async ${quotedName(operationId)}(${used.length > 0 ? `{ ${used.join(', ')} }` : ''}): ${result} {`,
    ...lines.map((line) => `    ${line}`),
    '  },',
  ].join('\n')
}
