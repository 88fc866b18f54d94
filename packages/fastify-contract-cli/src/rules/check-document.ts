import { METHODS } from 'node:http'
import { kindOf, type Operation } from 'fastify-contract/contract'
import { callbackUrl } from 'fastify-contract/webhooks'
import {
  allowsOnlyStrings,
  checkedSchema,
  describesBytes,
  headerMedia,
  headersOf,
  isChecked,
  isGiven,
  isJsonRange,
} from '../document/contents.ts'
import { join, resolve } from '../document/json-pointer.ts'
import { correctedNames, hasNoTypes } from '../document/media-type-names.ts'
import {
  type Document,
  type Endpoint,
  endpoints,
  isRelative,
  locate,
  outgoingItems,
  type RequestBody,
  type Response,
  type Server,
  withoutFragment,
} from '../document/openapi-document.ts'
import { schemasDescribing } from '../document/schemas.ts'
import { type At, hasAny, type Kind, methods, type Node, walk } from '../document/walk-document.ts'
import { roundedIntegers } from '../passes/exact-integers.ts'
import { upgrade } from '../passes/normalize.ts'
import { bodiless, ignoredBodies, unservedStatuses } from '../passes/openapi-3-1.ts'
import { partStyles } from '../passes/served-forms.ts'
import { isServedDialect } from '../read/schema-dialects.ts'
import { type Grades, gradedLines, type Report, refusal } from '../reports/reports.ts'
import { checkBodies } from './body-rules.ts'
import {
  checkDeprecation,
  checkPath,
  checkScopes,
  checkSecurity,
  checkStatuses,
  checkUndated,
} from './operation-rules.ts'
import { checkEmptyValues, checkParameters } from './parameter-rules.ts'
import { checkDigest } from './precondition-rules.ts'
import { checkSchemas } from './schema-rules.ts'
import { checkTool, checkToolNames } from './tool-rules.ts'

type Rule<Subject> = (subject: Subject, report: Report, document: Document) => void

/** The rules for an operation, with its path, its parameters and its bodies. */
const operationRules: Rule<Endpoint>[] = [
  checkPath,
  checkMethod,
  checkStatuses,
  checkSecurity,
  checkParameters,
  checkEmptyValues,
  checkBodies,
  checkItemFields,
  checkHeaders,
  checkUnvalidatedBodies,
  checkDeprecation,
  checkDigest,
  checkTool,
]

/** The rules for a document as a whole, in the form of OpenAPI 3.1. */
const documentRules: Rule<Document>[] = [
  checkDialect,
  checkNames,
  checkScopes,
  checkNumbers,
  checkSchemas,
  checkUndated,
  checkExpressions,
  checkToolNames,
]

/**
 * Applies all rules to a bundled document. `document` is the same document as OpenAPI 3.1. Returns a line for each
 * finding, with its pointer; a location that several operations refer to gets one line. Rejecting a document is better than
 * parsing requests or writing responses differently from what it says.
 */
export function checkDocument(
  published: Document,
  document = upgrade(published).upgraded,
  grades?: Grades,
): { rejected: string[]; warnings: string[] } {
  const { report, lines } = gradedLines(grades)
  checkIgnored(published, report)
  for (const endpoint of endpoints(document)) for (const check of operationRules) check(endpoint, report, document)
  for (const check of documentRules) check(document, report, document)
  return { rejected: [...lines.refused], warnings: [...lines.advice] }
}

/** Warns of what `asOpenApi31` leaves out, because OpenAPI says that it has no effect, and of what it adds. */
function checkIgnored(published: Document, report: Report): void {
  const is30 = published.openapi.startsWith('3.0.')
  walk(published as unknown as Node, 'document', '#', checkNode)

  function checkNode(node: Node, kind: Kind, at: At): void {
    if (kind !== 'schema') checkObject(node, kind, at())
    else if (typeof node.nullable === 'boolean') checkNullable(node, at())
  }

  function checkObject(node: Node, kind: Kind, pointer: string): void {
    if (kind === 'pathItem') {
      for (const method of ignoredBodies(published, node))
        report(
          'ignored-body',
          join(pointer, method, 'requestBody'),
          is30
            ? `a ${method.toUpperCase()} has no body in OpenAPI 3.0; it is ignored`
            : 'the optional body of a HEAD is ignored; use parameters',
        )
    }
    if (kind === 'parameter' && node.in === 'header' && /^authorization$/i.test(String(node.name)))
      report(
        'authorization-parameter',
        pointer,
        'OpenAPI ignores a header parameter Authorization; describe it by a security scheme',
      )
    if (kind === 'requestBody' || kind === 'response') {
      for (const { name, text } of correctedNames(node))
        report('inexact-media-type', join(pointer, 'content', name), text)
      if (kind === 'requestBody' && hasNoTypes(node))
        report(
          'inexact-media-type',
          pointer,
          'has no media type, so a body is bytes of any media type; add a media type',
        )
    }
    if (kind === 'requestBody' && is30) checkPartStyles(Object(node.content), pointer)
    if (kind === 'pathItem' && published.openapi.startsWith('3.2.')) checkQueryBody(node, pointer)
    if (kind === 'operation') checkResponses(Object(node.responses), pointer)
    if (kind === 'document' || kind === 'pathItem' || kind === 'operation') checkServers(node, pointer)
  }

  function checkPartStyles(content: Record<string, { encoding?: Record<string, object> }>, pointer: string): void {
    for (const [mediaType, media] of Object.entries(content)) {
      if (kindOf(mediaType) !== 'multipart') continue
      const { encoding = {} } = media
      for (const [name, one] of Object.entries(encoding)) {
        const given = partStyles.filter((field) => Object.hasOwn(one, field))
        if (given.length > 0)
          report(
            'style-of-part',
            join(pointer, 'content', mediaType, 'encoding', name),
            `OpenAPI 3.0 ignores ${given.join(' and ')} in multipart/form-data`,
          )
      }
    }
  }

  function checkQueryBody({ query }: Node, pointer: string): void {
    const { requestBody } = Object(query) as Node
    if (requestBody === undefined || locate<RequestBody>(published, join(pointer, 'query', 'requestBody')).required)
      return
    report(
      'optional-body-of-query',
      join(pointer, 'query'),
      'the body of QUERY is always required (RFC 10008 section 2); add required: true',
    )
  }

  function checkServers({ servers = [] }: { servers?: Server[] }, pointer: string): void {
    for (const { url } of servers.filter((one) => isRelative(one.url)))
      report('server-url', join(pointer, 'servers'), `${url} is relative; it is served as /${url}`)
  }

  function checkNullable({ nullable, ...schema }: Node, pointer: string): void {
    if (!is30)
      report(
        'keyword-of-another-version',
        `${pointer}/nullable`,
        "belongs to OpenAPI 3.0 and is ignored; to allow null, add the type 'null'",
      )
    // 3.0.3, "Clarify the semantics of nullable".
    else if (nullable === true && typeof schema.type !== 'string')
      report(
        'nullable-without-effect',
        pointer,
        `nullable has no effect without a type in the same schema; ${fixFor(schema)}`,
      )
    else if (nullable === true && Array.isArray(schema.enum) && !schema.enum.includes(null))
      report(
        'nullable-without-effect',
        pointer,
        'nullable has no effect beside an enum without null; to allow null, add it to the enum',
      )
  }

  function checkResponses(responses: Node, pointer: string): void {
    const statuses = Object.keys(responses).filter((status) => !status.startsWith('x-'))
    for (const status of unservedStatuses(responses))
      report(
        'inexact-status',
        join(pointer, 'responses', status),
        'is no status of a response, so it is ignored; use a number from 200 to 599, a range such as 4XX, or default',
      )
    if (statuses.length === 0)
      report(
        'operation-without-responses',
        pointer,
        'has no response; its handler may return any status, without a body',
      )
    for (const status of statuses.filter((each) => bodiless.includes(each))) {
      const at = join(pointer, 'responses', status)
      const { content = {} } = locate<Response>(published, at)
      if (Object.keys(content).length > 0)
        report('content-of-empty-response', at, `a ${status} response has no body; its content is ignored`)
    }
  }
}

/** Returns what to write instead. In an allOf every schema must allow null, so a type beside it would not be enough. */
const fixFor = (schema: Node): string =>
  hasAny(schema, ['$ref', 'allOf', 'anyOf', 'oneOf'])
    ? 'to allow null, use anyOf with the schema and { type: object, nullable: true, enum: [null] }'
    : 'to allow null, add the type'

/** How the router chooses an operation. */
type Routing = Pick<Operation, 'servedPaths' | 'selectors'>

/**
 * Returns a line for each operation that the router cannot tell from an earlier one, and so would never be called. The
 * operations in `rejected` are not served.
 */
export function sharedRoutes(document: Document, routings: Routing[], rejected: string[]): string[] {
  const seen = new Set<string>()
  const lines: string[] = []
  for (const [index, { method, path, pointer }] of endpoints(document).entries()) {
    if (rejected.includes(`${method} ${path}`)) continue
    const { servedPaths, selectors } = routings[index] as Routing
    const reason = withoutFragment(path) === path ? '' : ', since a request has no fragment'
    for (const served of servedPaths) {
      if (seen.size < seen.add(JSON.stringify([method, served.pattern, selectors])).size) continue
      const text = `${method} ${served.path} is already served by another operation${reason}; remove one of them, or distinguish them by a required query or header parameter with one value`
      lines.push(refusal('shared-route', pointer, text))
    }
  }
  return lines
}

function checkMethod({ method, keys, requestBody, pointer }: Endpoint, report: Report): void {
  const field = method.toLowerCase()
  // Methods are case-sensitive and usually in upper case (RFC 9110 section 9.1).
  if (keys.length > 1 && methods.includes(field))
    report(
      'unsupported-method',
      pointer,
      `is a method of OpenAPI itself; write it as ${field}, beside additionalOperations`,
    )
  else if (!METHODS.includes(method) || method === 'CONNECT') {
    const known = METHODS.find((each) => each !== method && each === method.toUpperCase())
    const fix = known === undefined ? 'use another one, such as POST' : `methods are case-sensitive: write ${known}`
    report('unsupported-method', pointer, `${method} is not a supported method; ${fix}`)
  }
  if (method === 'TRACE') report('unsupported-method', pointer, 'TRACE is not supported; remove the operation')
  if (method === 'QUERY' && requestBody?.required !== true)
    report(
      'body-against-method',
      pointer,
      'QUERY needs a body in each request (RFC 10008 section 2); add a required requestBody',
    )
  if (requestBody !== undefined && method === 'GET')
    report(
      'body-of-get',
      pointer,
      'many clients and proxies, such as fetch, cannot send the body of a GET; use parameters or POST',
    )
  if (requestBody !== undefined && method === 'HEAD')
    report('body-against-method', pointer, 'a required body of HEAD is not supported; use parameters or POST')
}

/** Fields of a media type that describe its items one by one (OpenAPI 3.2 section 4.14). */
const ofItems = ['itemSchema', 'prefixEncoding', 'itemEncoding']

/** Warns of media types whose items are described in a way that the service does not apply. */
function checkItemFields({ requestBody, responses }: Endpoint, report: Report): void {
  for (const { content = {}, pointer } of [...(requestBody ? [requestBody] : []), ...Object.values(responses)]) {
    for (const [mediaType, media] of Object.entries(content)) {
      for (const field of ofItems.filter((each) => Object.hasOwn(media, each)))
        report('item-description', join(pointer, 'content', mediaType, field), itemProblem(field, mediaType))
    }
  }
}

function itemProblem(field: string, mediaType: string): string {
  if (field !== 'itemSchema') return 'is ignored, since parts without names are not parsed'
  const kind = kindOf(mediaType)
  if (kind === 'lines') return 'the schema beside it is ignored; describe either the items or the whole body'
  if (kind === 'events')
    return 'is applied to the data of an event only; describe only data, event, id and retry, without a schema beside it'
  return `is ignored, since items of ${mediaType} are not read one by one; use application/jsonl, application/json-seq or text/event-stream`
}

/** Warns of headers of responses whose content the service does not write as described. */
function checkHeaders({ responses }: Endpoint, report: Report, document: Document): void {
  for (const [name, header] of Object.values(responses).flatMap((response) => headersOf(document, response))) {
    const described = isGiven(name) ? headerMedia(header) : undefined
    if (described === undefined) continue
    const [mediaType, { schema = true }] = described
    if (kindOf(mediaType) === 'json') continue
    if (kindOf(mediaType) !== 'text' || (!allowsOnlyStrings(document, schema) && !describesBytes(document, schema)))
      report(
        'header-media-type',
        header.pointer,
        `header ${name}: ${mediaType} is written as a string; use application/json or text/plain`,
      )
  }
}

/** Warns of media types whose schema constrains more than the service validates. */
function checkUnvalidatedBodies({ requestBody, responses }: Endpoint, report: Report, document: Document): void {
  const note = 'is not validated against its schema'
  for (const [mediaType, { schema }] of Object.entries(requestBody?.content ?? {})) {
    if (
      !isJsonRange(document, mediaType, requestBody?.content ?? {}) &&
      !isChecked(document, mediaType, schema) &&
      !describesBytes(document, schema)
    )
      report('unvalidated-body', join(requestBody?.pointer ?? '', 'content', mediaType), note)
  }
  for (const { content = {}, pointer } of Object.values(responses)) {
    for (const [mediaType, { schema = true }] of Object.entries(content)) {
      if (checkedSchema(document, mediaType, schema) !== true) continue
      const isFree = schemasDescribing(document, [schema], []).every((each) => Object.keys(each).length === 0)
      if (!isFree && !allowsOnlyStrings(document, schema))
        report('unvalidated-body', join(pointer, 'content', mediaType), note)
    }
  }
}

/**
 * Warns of handlers with a derived name. The pointer is that of the path, without following a $ref: the derived name
 * belongs to the path.
 */
function checkNames(document: Document, report: Report): void {
  const named = endpoints(document).filter(({ hasDerivedId }) => hasDerivedId)
  const givenTo = ({ pointer }: Endpoint) => (resolve(document, pointer) as { operationId?: string }).operationId
  const nameless = named.filter((endpoint) => !givenTo(endpoint))
  // Some documents have no operationId at all.
  const isOneForAll = nameless.length > 3
  const like = isOneForAll ? `, like ${nameless.length - 1} other operations` : ''
  for (const endpoint of named) {
    const { path, keys, operationId } = endpoint
    const given = givenTo(endpoint)
    if (!given && isOneForAll && endpoint !== nameless[0]) continue
    const reason = given ? `has the operationId ${given} of another operation` : `has no operationId${like}`
    report(
      given ? 'duplicate-operation-id' : 'missing-operation-id',
      join('#', 'paths', path, ...keys),
      `${reason}; its handler is named ${operationId}, after its method and path`,
    )
  }
}

/** Warns of callbacks whose URL is not a runtime expression. */
function checkExpressions(document: Document, report: Report): void {
  for (const { item, expression } of outgoingItems(document)) {
    try {
      if (expression !== undefined) callbackUrl(expression)
    } catch (error) {
      report('callback-expression', item.pointer, (error as Error).message)
    }
  }
}

function checkDialect(document: Document, report: Report): void {
  const { jsonSchemaDialect: dialect } = document as { jsonSchemaDialect?: unknown }
  if (dialect !== undefined && !isServedDialect(String(dialect)))
    report(
      'unsupported-dialect',
      '#/jsonSchemaDialect',
      `${dialect} is not supported; use JSON Schema 2020-12, or draft 4 to 2019-09`,
    )
}

/** Rejects integers that would be rounded. Those of examples and extensions do not change what the service does. */
function checkNumbers(document: Document, report: Report): void {
  for (const { pointer, isShown, isWide } of roundedIntegers(document)) {
    if (isShown)
      report('wide-integer-in-example', pointer, 'an integer beyond 2^53 - 1, which the documentation page rounds')
    else if (isWide)
      report(
        'wide-integer',
        pointer,
        'an integer beyond 2^53 - 1 whose digits are unknown, since @redocly/cli or a fraction rounded it; write its digits, or state it in the description',
      )
    else
      report(
        'wide-integer',
        pointer,
        'an integer beyond 2^53 - 1 would be rounded; use the type integer with the format int64 or uint64, or state it in the description',
      )
  }
}
