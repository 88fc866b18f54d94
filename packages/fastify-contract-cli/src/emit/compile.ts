import { basename } from 'node:path'
import type { Contract, Routes } from 'fastify-contract/contract'
import { stringifyJson } from 'fastify-contract/json'
import { createValidator, evaluateSchemaCode, loadSchemaCode, schemaCode } from 'fastify-contract/schema'
import { withErrorTable } from '../document/error-numbers.ts'
import { keysOf } from '../document/json-pointer.ts'
import type { Document, Endpoint } from '../document/openapi-document.ts'
import { exampleCurl } from '../examples/example-curl.ts'
import { sendableResponses, successes } from '../examples/sendable-responses.ts'
import { validRequests } from '../examples/valid-requests.ts'
import { lenientDocument } from '../passes/lenient/lenient-document.ts'
import type { TextAt } from '../passes/lenient/lenient-structure.ts'
import { asPublished } from '../passes/normalize.ts'
import type { Bundle } from '../read/bundle-sources.ts'
import type { OverlayOptions } from '../read/overlays/overlays.ts'
import { readDocument } from '../read/read-document.ts'
import type { Sources } from '../read/source-files.ts'
import { bundleWith, depthProblem } from '../redocly/redocly.ts'
import {
  findingsIn,
  operationsOf,
  type PlaceLine,
  type Problem,
  pointerOf,
  RejectedDocument,
  withoutRepeats,
} from '../rules/problems.ts'
import { requestJson } from '../text/foreign-text.ts'
import { lineText, visible } from '../text/source-text.ts'
import { contractTypes } from './api-types.ts'
import { clientTable } from './client-json.ts'
import { contractDeclaration, contractModule } from './contract-mjs.ts'
import { errorNumberModule } from './error-numbers-ts.ts'
import type { Files, Generated } from './generated-files.ts'
import { handlerTypes } from './handler-types-ts.ts'
import { mcpTable } from './mcp-json.ts'
import { requestFile } from './requests-http.ts'
import { type CheckOptions, type Served, servedDocument } from './served-document.ts'
import { skippedOperations, skippedRoutes } from './skipped-operations-json.ts'
import { webhookTable } from './webhooks-json.ts'

/** What is made of a document. */
export type Compiled = Generated & {
  /** One line for each location that is served in a way that its author may not expect. */
  warnings: string[]
  /** The problems that cost the operations that are not served. */
  skipped: Problem[]
}

/** How a document is compiled. */
export type CompileOptions = Pick<CheckOptions, 'errors' | 'skipUnsupported'> &
  OverlayOptions & {
    /** The configuration for bundling, such as its decorators; default: redocly.yaml if there is one. */
    rules?: string | undefined
    /** The files of the document; default: they are read, and overlays applied. */
    sources?: Sources
    /** Called with what begins. */
    onStep?: (text: string) => void
  }

/**
 * Compiles the OpenAPI document at `path`. Rejects with a RejectedDocument that lists the problems of all stages.
 */
export async function compileContract(path: string, options: CompileOptions = {}): Promise<Compiled> {
  const { sources, bundled, given, placed } = await bundledContract(path, options)
  const assumed = withoutRepeats(sources.warnings.map(visible))
  try {
    const compiled = await compileDocument(bundled.document, path, given)
    const warnings = withoutRepeats([...bundled.warnings, ...compiled.warnings])
    return {
      ...compiled,
      warnings: [...assumed, ...warnings.map((line) => placed(line, pointerOf(line)))],
      skipped: compiled.skipped.map((problem) => ({ ...problem, text: placed(problem.text, problem.pointer) })),
    }
  } catch (error) {
    throw error instanceof RejectedDocument ? error.placed(placed) : error
  }
}

/**
 * Returns the text of openapi.json, with which documents are compared, without making the other files. Rejects with a
 * RejectedDocument like `compileContract`.
 */
export const publishedDocument = async (path: string, options: CompileOptions = {}): Promise<string> =>
  documentTextOf(await checkedDocument(path, options))

/**
 * Returns what the generated files are made of, without making them. Rejects with a RejectedDocument like
 * `compileContract`.
 */
export async function checkedDocument(path: string, options: CompileOptions = {}): Promise<Served> {
  const { bundled, given, placed } = await bundledContract(path, options)
  const { document } = bundled
  try {
    return withinDepth(document, path, function check() {
      options.onStep?.('checking the document')
      const { mended } = lenientDocument(document, given.textAt, given.unresolved)
      return servedDocument(mended, path, given)
    })
  } catch (error) {
    throw error instanceof RejectedDocument ? error.placed(placed) : error
  }
}

/** Reads and bundles the document at `path`, and returns how it is compiled, and what adds places to lines about it. */
async function bundledContract(path: string, options: CompileOptions) {
  const { onStep, overlays, insteadOf } = options
  if (options.sources === undefined) onStep?.(`reading ${path}`)
  const sources = options.sources ?? (await readDocument(path, { overlays, insteadOf }))
  onStep?.('bundling')
  const bundled = await bundleWith(sources, options.rules)
  const [source] = sources.files.values()
  const textAt = (pointer: string) => (bundled.isElsewhere(pointer) ? undefined : source?.textAt(keysOf(pointer)))
  const given = { ...options, textAt, unresolved: bundled.problems }
  return { sources, bundled, given, placed: placesIn(bundled) }
}

/** Returns a function that adds the places of locations to lines about them. */
const placesIn =
  ({ placeOf }: Pick<Bundle, 'placeOf'>): PlaceLine =>
  (line, pointer) =>
    `${line} (${placeOf(pointer)})`

/**
 * Compiles a bundled document: mends it, checks and simplifies it, and makes the generated files. Rejects with an error
 * with one line for each location that cannot be served, and for each response whose schema does not match the error
 * bodies that `errors` makes.
 */
export async function compileDocument(
  given: Document,
  path: string,
  options: CheckOptions & { textAt?: TextAt } & Pick<CompileOptions, 'onStep'> = {},
  typesOf = contractTypes,
): Promise<Compiled> {
  return withinDepth(given, path, function compile() {
    options.onStep?.('checking the document')
    const { mended, advice } = lenientDocument(given, options.textAt, options.unresolved)
    const served = servedDocument(mended, path, options)
    const { document, routes, skipped, warnings } = served
    const made = filesOf(mended, served, lineText(basename(path)), typesOf, options.onStep)
    return { ...made, document, routes, warnings: [...adviceFor(given, advice, skipped), ...warnings], skipped }
  })
}

/** Returns what `run` makes of a document. Throws a RejectedDocument if the document is too deep for it. */
function withinDepth<Result>(given: Document, path: string, run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    const problem = depthProblem(error)
    if (problem === undefined) throw error
    throw new RejectedDocument(path, [{ pointer: '#', text: problem, operations: [] }], given)
  }
}

/** Returns the text of a document as it is published. */
const documentTextOf = ({ published }: Served): string => json(withErrorTable(asPublished(published)))

/** Returns the generated files, and the contract that the first one exports. */
function filesOf(
  mended: Document,
  served: Served,
  origin: string,
  typesOf: typeof contractTypes,
  onStep: CompileOptions['onStep'],
): Pick<Generated, 'files' | 'contract' | 'validRequest'> {
  const { published, document, routes, replies, skipped } = served
  const webhooks = webhookTable(document)
  const tools = mcpTable(document)
  const note = `Written by fastify-contract generate from ${origin}; edit that instead.\n`
  onStep?.('compiling the schemas')
  const code = schemaCode(routes)
  const evaluated = evaluateSchemaCode(code)
  const validator = createValidator(routes.schemas, loadSchemaCode(evaluated, routes))
  onStep?.('making the examples')
  const validRequest = validRequests(document, routes, validator)
  const requests = requestFile(document, validRequest)
  const sendable = sendableResponses({ routes, schemaCode: evaluated })
  const example = exampleCurl(document, validRequest, isSuccess)
  const documentText = documentTextOf(served)
  const routesText = json({
    ...routes,
    ...(example !== undefined && { example }),
    ...(skipped.length > 0 && { skipped: skippedRoutes(mended, skipped, routes.operations) }),
  })
  onStep?.('generating the types')
  const files: Files = {
    'contract.mjs': `// ${note}${contractModule(documentText, routesText, code)}`,
    'contract.d.mts': `// ${note}${contractDeclaration}`,
    'openapi.json': documentText,
    'api.d.ts': `// ${note}${typesOf(document)}`,
    'handler-types.d.ts': `// ${note}${handlerTypes(document)}`,
    'client.json': json(clientTable(document, replies)),
    'error-numbers.ts': `// ${note}${errorNumberModule(published)}`,
    'requests.http': `# ${requestJson(note)}${requests}`,
    ...(webhooks !== undefined && { 'webhooks.json': json(webhooks) }),
    ...(tools !== undefined && { 'mcp.json': json(tools) }),
    ...(skipped.length > 0 && { 'skipped-operations.json': json(skippedOperations(skipped)) }),
  }
  return { files, contract: exportOf(documentText, routesText, evaluated), validRequest }

  function isSuccess(endpoint: Endpoint): boolean {
    const [first] = successes(document, sendable, endpoint)
    return first !== undefined && first.outcome.status < 300
  }
}

/** Returns what `contract.mjs` exports. Only a command that serves it parses the routes. */
function exportOf(
  documentText: string,
  routesText: string,
  schemaCode: Required<Contract>['schemaCode'],
): Required<Contract> {
  let parsed: Routes | undefined
  return {
    documentText,
    schemaCode,
    get routes() {
      parsed ??= JSON.parse(routesText) as Routes
      return parsed
    },
  }
}

/** Returns the text of a file. Few documents have a bigint, for which JSON.stringify, which is faster, throws. */
function json(value: unknown): string {
  try {
    if (!('toJSON' in BigInt.prototype)) return `${JSON.stringify(value, null, 2)}\n`
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
  return `${stringifyJson(value, '  ')}\n`
}

/** Returns the lines of advice, except those about skipped operations only. */
function adviceFor(document: Document, advice: string[], skipped: Problem[]): string[] {
  const lines = advice.map(visible)
  if (skipped.length === 0) return lines
  const lost = new Set(skipped.flatMap(operationsOf))
  const findings = findingsIn(document)
  return lines.filter((line) => {
    const operations = findings([line]).problems.flatMap(operationsOf)
    return operations.length === 0 || operations.some((one) => !lost.has(one))
  })
}
