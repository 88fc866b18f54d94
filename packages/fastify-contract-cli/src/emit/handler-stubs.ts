import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  contentNegotiation,
  type HandlerResponse,
  isRange,
  kindOf,
  type Operation,
  type Routes,
  rangeOf,
  responseKey,
  type Schema,
  type ServerSentEvent,
} from 'fastify-contract/contract'
import { parseJson, stringifyJson, withDoubles } from 'fastify-contract/json'
import { type CompiledSchemas, createValidator, loadSchemaCode, mergeKeywords } from 'fastify-contract/schema'
import type ts from 'typescript'
import { type Document, type Endpoint, endpoints, type RequestBody } from '../document/openapi-document.ts'
import { isInt64 } from '../document/schemas.ts'
import { isNode, mapEntries } from '../document/walk-document.ts'
import { type ExampleOrigin, exampleResponses, exampleStream, isExampleStream } from '../examples/examples.ts'
import { lineText, literal, memberOf, quotedName, stringLiteral } from '../text/source-text.ts'
import { compiler, type ParsedFiles, reuseParsedFiles } from '../typescript/typescript.ts'
import { type Generated, writeStale } from './generated-files.ts'

/** Returns the published document in a directory, or undefined if it is missing or is not JSON, as during a merge. */
const publishedIn = (directory: string): Promise<Document | undefined> =>
  readFile(join(directory, 'openapi.json'), 'utf8')
    .then(JSON.parse)
    .catch(() => undefined)

/**
 * Returns a handler that compiles for each operation that is not in the document `before`, to paste into the module of
 * handlers. The handler returns the document's example, or else, with `madeToo`, a value that is made from the schema.
 * If no value satisfies the schema and its type, the handler responds with 501. A comment says which of them it is.
 */
export function handlerStubs(
  { document, routes, files }: Generated,
  before: Document | undefined,
  { madeToo = true, compilerOptions }: StubOptions = {},
): string[] {
  const known = new Set(before && endpoints(before).map(({ operationId }) => operationId))
  const added = endpoints(document).filter(({ operationId }) => !known.has(operationId))
  if (added.length === 0) return []
  const sendable = sendableResponses(routes, files['schemas.js'] as string)
  const byId = new Map(routes.operations.map((operation) => [operation.operationId, operation]))
  const choices = added.map((endpoint) => {
    const operation = byId.get(endpoint.operationId) as Operation
    const isNegotiated = contentNegotiation(operation.schema) !== undefined
    // Made one by one, since the first one mostly compiles.
    const statements = function* (): Generator<string[]> {
      for (const { outcome, origin } of exampleResponses(document, endpoint)) {
        const sent = origin === undefined && !madeToo ? undefined : sendable(endpoint.operationId, outcome)
        if (sent !== undefined) yield [`// ${noteOf(sent, origin)}`, `return ${literalOf(sent)}`]
      }
    }
    return { isNegotiated, endpoint, statements: statements() }
  })
  return compiled(choices, files['api.d.ts'] as string, compilerOptions)
}

/** Returns the response as the service sends it, by operationId; undefined if it would not send it. */
export type Sendable = (operationId: string, outcome: HandlerResponse) => HandlerResponse | undefined

/** Returns a function that validates example responses, and gives each int64 its digits. */
export function sendableResponses(routes: Routes, schemaCode: string): Sendable {
  const exactValue = exactValues(routes.schemas, loadSchemaCode(schemaCode, routes))
  const byId = new Map(routes.operations.map((operation) => [operation.operationId, operation]))
  return (operationId, outcome) => sendableResponse(exactValue, byId.get(operationId) as Operation, outcome)
}

/** How handlers are made: whether with values made from schemas, and for which options of TypeScript. */
type StubOptions = { madeToo?: boolean; compilerOptions?: object }

/** The statements that a handler may have, in order of preference. */
type Choice = { endpoint: Endpoint; isNegotiated: boolean; statements: Generator<string[]> }

/** Returns the first choice of each handler that compiles. The last choice always compiles, since it only throws. */
function compiled(choices: Choice[], types: string, options?: object): string[] {
  let isCertain = true
  const handlers = choices.map(({ endpoint, isNegotiated, statements }) => {
    const { value, done } = statements.next()
    isCertain &&= done === true
    return stubOf(endpoint, isNegotiated, value ?? notWritten(endpoint))
  })
  if (isCertain) return handlers
  const failed = [...uncompilable(handlers, types, options)]
  const others = compiled(
    failed.map((index) => choices[index] as Choice),
    types,
    options,
  )
  return handlers.map((handler, index) => others[failed.indexOf(index)] ?? handler)
}

/** Returns the expression of an outcome, on one line if it has no headers or fits into 110 columns. */
function literalOf({ status, headers, contentType, body }: HandlerResponse): string {
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
const notWritten = ({ operationId }: Endpoint): string[] => [
  '// The document has no valid example of a success, so the response is 501.',
  `throw new ContractError('notImplemented', ${stringLiteral(`${operationId} is not written yet`)})`,
]

const hasSeveralTypes = ({ content }: RequestBody): boolean =>
  Object.keys(content).length > 1 || Object.keys(content).some(isRange)

function stubOf(endpoint: Endpoint, isNegotiated: boolean, statements: string[]): string {
  const { method, path, operationId, parameters, requestBody } = endpoint
  const taken = [
    ...(isNegotiated ? ['accept'] : []),
    ...(requestBody === undefined ? [] : ['body']),
    ...(requestBody !== undefined && hasSeveralTypes(requestBody) ? ['contentType'] : []),
    ...parameters.map(({ in: kind, name }) => memberOf(kind, name)),
  ]
  // Without the return type, TypeScript accepts misspelt optional properties, and reports errors at the handler's name.
  const result = `ReturnType<Handlers<operations>[${stringLiteral(operationId)}]>`
  return [
    `  // ${lineText(`${method} ${path}`)}${taken.length > 0 ? ` takes ${taken.join(', ')}` : ''}`,
    `  async ${quotedName(operationId)}(): ${result} {`,
    ...statements.map((statement) => `    ${statement}`),
    '  },',
  ].join('\n')
}

const directory = fileURLToPath(new URL('routes/', import.meta.resolve('fastify-contract')))

/** Returns the indexes of the handlers that do not compile with the types of their document. */
function uncompilable(handlers: string[], types: string, options?: object): Set<number> {
  const head = [
    "import { ContractError } from '../http/errors.js'",
    "import type { Handlers } from './handler-types.js'",
    "import type { operations } from './new-operations.d.ts'",
    'export const handlers: Partial<Handlers<operations>> = {',
  ].join('\n')
  const texts = handlers.map((handler) => `\n${handler}`)
  const findings = moduleFindings(`${head}${texts.join('')}\n}\n`, types, options)
  let end = head.length
  const ends = texts.map((text) => {
    end += text.length
    return end
  })
  return new Set(findings.map(({ start = 0 }) => ends.findIndex((end) => start < end)))
}

/**
 * Returns what the compiler finds in a module that imports the types of the engine, and those of a document from
 * ./new-operations.d.ts.
 */
export function moduleFindings(text: string, types: string, options?: object): readonly ts.Diagnostic[] {
  const module = `${directory}new-module.ts`
  const texts = { [`${directory}new-operations.d.ts`]: types, [module]: text }
  const program = virtualProgram([module], texts, { types: [], noUnusedLocals: false }, options)
  const file = program.getSourceFile(module)
  return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
}

/**
 * Returns a TypeScript program of some modules with the given compiler options, by default those of tsconfig.json.
 * `texts` are virtual files by path, which take precedence over files on disk. `more` must not change how a file is parsed.
 */
export function virtualProgram(
  modules: string[],
  texts: Record<string, string>,
  more: ts.CompilerOptions = {},
  compilerOptions: object = ownOptions(),
): ts.Program {
  const virtual = new Map(Object.entries(texts).map(([path, text]) => [resolve(path), text]))
  const directories = new Set([...virtual.keys()].map((path) => dirname(path)))
  const { options } = compiler.convertCompilerOptionsFromJson(compilerOptions, '.')
  const host = compiler.createCompilerHost({ ...options, ...more })
  const parsed = parsedFiles(options)
  reuseParsedFiles(host, parsed)
  const { getSourceFile, fileExists, readFile, directoryExists } = host
  host.getSourceFile = (name, target, onError) => {
    const text = virtual.get(resolve(name))
    if (text === undefined) return getSourceFile(name, target, onError)
    const known = parsed.get(name)?.file
    const file = known?.text === text ? known : compiler.createSourceFile(name, text, target)
    parsed.set(name, { file, modified: undefined })
    return file
  }
  host.fileExists = (name) => virtual.has(resolve(name)) || fileExists(name)
  host.readFile = (name) => virtual.get(resolve(name)) ?? readFile(name)
  host.directoryExists = (name) => directories.has(resolve(name)) || (directoryExists?.(name) ?? true)
  return compiler.createProgram(modules, { ...options, ...more }, host)
}

/** By compiler options: programs with the same options share their files. */
const filesByOptions = new Map<string, ParsedFiles>()

/** Returns the files that earlier programs with the same options have parsed. */
function parsedFiles(options: ts.CompilerOptions): ParsedFiles {
  const key = JSON.stringify(options)
  const known = filesByOptions.get(key) ?? new Map()
  filesByOptions.set(key, known)
  return known
}

/** Returns the compiler options of tsconfig.json; strict ones if there is none. */
const ownOptions = (): object =>
  compiler.readConfigFile('tsconfig.json', compiler.sys.readFile).config?.compilerOptions ?? strict

const strict = { strict: true, target: 'ES2023', module: 'NodeNext', allowImportingTsExtensions: true, noEmit: true }

/** A value in the form in which a handler returns it, with each int64 as a bigint. */
type Exact = { value: unknown }

/**
 * Returns an example response in the form in which a handler returns it: each int64 is a bigint, where the document's
 * example has a number. Leaves out headers that break their schemas. Returns undefined if the service would not send
 * the response.
 */
function sendableResponse(
  exactValue: ExactValue,
  operation: Operation,
  example: HandlerResponse,
): HandlerResponse | undefined {
  const { response } = operation.schema
  const { status, headers = {}, contentType, body } = example
  const key = responseKey(response, status) ?? ''
  const { content = {}, headers: schemas = {} } = response[key] ?? {}
  const declared = operation.responseHeaders?.[key] ?? []
  const given = declared.flatMap(({ name }) => {
    const exact = exactValue(schemas[name] ?? true, headers[name])
    return exact === undefined ? [] : [[name, exact.value]]
  })
  if (declared.some(({ name, isRequired }) => isRequired && !given.some(([sent]) => sent === name))) return undefined
  const [first = ''] = Object.keys(content)
  const type = contentType ?? first
  const { schema } = content[type] ?? content[rangeOf(Object.keys(content), type) ?? first] ?? {}
  const exact = schema === undefined ? { value: body } : exactBody(exactValue, schema, contentType ?? first, body)
  if (exact === undefined) return undefined
  return {
    status,
    ...(given.length > 0 && { headers: Object.fromEntries(given) }),
    ...(contentType !== undefined && { contentType }),
    body: exact.value,
  }
}

function exactBody(exactValue: ExactValue, schema: Schema, mediaType: string, body: unknown): Exact | undefined {
  if (body instanceof Uint8Array) return { value: body }
  if (!isExampleStream(body)) return exactValue(schema, body)
  const items = body.items.flatMap((item) => {
    if (kindOf(mediaType) === 'lines') return exactValue(schema, item) ?? []
    const exact = exactValue(schema, (item as ServerSentEvent).data)
    return exact === undefined ? [] : { value: { data: exact.value } }
  })
  if (items.length < body.items.length) return undefined
  return { value: exampleStream(items.map(({ value }) => value)) }
}

type ExactValue = (schema: Schema, value: unknown) => Exact | undefined

/** Returns whether each int64 of a value that is sent is the one of an example, and not a double that may be rounded. */
function hasDigits(sent: unknown, example: unknown): boolean {
  if (typeof sent === 'bigint') return typeof example === 'bigint' || Number.isSafeInteger(example)
  if (typeof sent !== 'object' || sent === null) return true
  return Object.entries(sent).every(([name, value]) => hasDigits(value, Object(example)[name]))
}

/** Returns what is sent of an example with the bigints of the example. */
function withDigits(sent: unknown, example: unknown): unknown {
  if (typeof example === 'bigint') return example
  if (Array.isArray(sent)) return sent.map((item, index) => withDigits(item, Object(example)[index]))
  return isNode(sent) ? mapEntries(sent, (member, name) => withDigits(member, Object(example)[name])) : sent
}

/**
 * Returns a function that returns a value with each int64 as a bigint, or undefined if the value is not JSON, breaks its
 * schema, or has an int64 whose digits are unknown. What a serializer proves valid is returned as the service sends it.
 */
function exactValues(schemas: Record<string, Schema>, compiled: CompiledSchemas): ExactValue {
  const validator = createValidator(schemas, compiled)
  const withInt64 = (described: Schema[], value: unknown): unknown => {
    const merged = mergeKeywords(schemas, described)
    if (Array.isArray(value)) return value.map((item) => withInt64(merged.items, item))
    if (isNode(value))
      return mapEntries(value, (member, name) => withInt64(merged.properties.get(name) ?? merged.others ?? [], member))
    return typeof value === 'number' && [...merged.schemas].some(isInt64) ? BigInt(value) : value
  }
  return (schema, value) => {
    const serialize = compiled.serializers.get(schema)
    try {
      // A serializer takes a bigint for an int64 only; the service would not use it for another one.
      const text = serialize?.(value) ?? serialize?.(withDoubles(value).value)
      if (text !== undefined) return { value: withInt64([schema], withDigits(parseJson(text).value, value)) }
      // Where no validator was generated, the serializer proves what is valid.
      if (serialize !== undefined && compiled.validators.get(schema) === undefined) return undefined
      const document = parseJson(String(stringifyJson(value)))
      const isValid = validator.converter(schema)(document)
      return isValid && hasDigits(document.value, value) ? document : undefined
    } catch {
      return undefined
    }
  }
}

/**
 * Writes the files that differ from those in a directory, prints a handler for each new operation, to paste into
 * `handlersFile`, and returns the paths of the written files. Creates the handlers first: if that fails, nothing is
 * written, because the next run would not print them.
 */
export async function updateGenerated(contract: Generated, directory: string, handlersFile: string): Promise<string[]> {
  const handlers = handlerStubs(contract, await publishedIn(directory))
  const written = await writeStale(contract.files, directory)
  const target = existsSync(handlersFile) ? `, for ${handlersFile}` : ' handlers'
  if (handlers.length > 0) console.log(`new${target}:\n\n${handlers.join('\n\n')}\n`)
  return written
}
