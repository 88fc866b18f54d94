import { basename } from 'node:path'
import type { Contract, Routes } from 'fastify-contract/contract'
import { createValidator, evaluateSchemaCode, loadSchemaCode, schemaCode } from 'fastify-contract/schema'
import type { Document, Endpoint } from '../document/openapi-document.ts'
import { exampleCurl } from '../examples/example-curl.ts'
import { sendableResponses, successes } from '../examples/sendable-responses.ts'
import { validRequests } from '../examples/valid-requests.ts'
import { lenientDocument } from '../passes/lenient/lenient-document.ts'
import type { TextAt } from '../passes/lenient/lenient-structure.ts'
import {
  findingsIn,
  operationsOf,
  type Problem,
  pointerOf,
  RejectedDocument,
  withoutRepeats,
} from '../rules/problems.ts'
import { requestJson } from '../text/foreign-text.ts'
import { lineText, visible } from '../text/source-text.ts'
import { contractTypes } from './api-types.ts'
import { bundledContract, type CompileOptions, documentTextOf, json, withinDepth } from './checked-document.ts'
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
