import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { Routes } from '../serve/contract.ts'
import { errorNumberModule, errorNumberProblems, withErrorTable } from './document/error-numbers.ts'
import { type ExactIntegers, exactIntegers, exactJson } from './document/exact-integers.ts'
import { normalize, upgrade } from './document/normalize.ts'
import type { Document } from './document/openapi-document.ts'
import { clientTable, int64Responses } from './emit/client-table.ts'
import { contractTypes } from './emit/contract-types.ts'
import type { Files } from './emit/generated-files.ts'
import { mcpTable } from './emit/mcp-table.ts'
import { requestFile } from './emit/request-file.ts'
import { routesOf } from './emit/route-schemas.ts'
import { webhookTable } from './emit/webhook-table.ts'
import { depthProblem, redocly } from './redocly.ts'
import { checkDocument } from './rules/check-document.ts'
import { structureProblems } from './rules/document-structure.ts'
import { type ErrorBodySource, errorBodyProblems } from './rules/error-bodies.ts'
import { type Findings, findingsIn, RefusedDocument, soundPart } from './rules/problems.ts'
import { defaultProblems } from './rules/unsupported-parameters.ts'

/** What is made of a document. */
export type Compiled = {
  /** The generated files: the same document always gives the same bytes. */
  files: Files
  /** The document in the form of `normalize`. */
  document: Document
  routes: Routes
  /** One line for each place that is served in a way that its author may not expect. */
  warnings: string[]
}

/**
 * Compiles the OpenAPI document at `path`, after linting it with the rules of a file, by default redocly.yaml if
 * there is one. Rejects with the findings of the linter, each with its place, or else with the problems that
 * `compileDocument` finds.
 */
export async function compileContract(path: string, rules?: string, errors?: ErrorBodySource): Promise<Compiled> {
  const config = rules === undefined ? [] : [`--config=${rules}`]
  const bundling = redocly('bundle', path, '--ext=json', ...config)
  // The linter's message is clearer than the bundler's, so it comes first.
  await Promise.all([redocly('lint', path, '--format=stylish', ...config), bundling.catch(() => {})])
  const bundled = JSON.parse(await bundling)
  return await compileDocument(bundled, path, errors, contractTypes, await exactIntegers(bundled, path))
}

/**
 * Compiles a bundled document to the published document, its types, its route schemas, its error numbers, what its
 * client needs, digests that tell the service whether the files belong together, and one request per operation for
 * editors. Rejects with an error with one line for each place that cannot be served, and for each response whose schema
 * does not match the error bodies that `errors` makes.
 *
 * @param integers The exact values of integers in the document that a double cannot hold.
 */
export async function compileDocument(
  published: Document,
  path: string,
  errors?: ErrorBodySource,
  typesOf = contractTypes,
  integers: ExactIntegers = new Map(),
): Promise<Compiled> {
  try {
    const { document, routes, replies, warnings } = checked(published, path, errors, integers)
    const webhooks = webhookTable(document)
    const tools = mcpTable(document)
    const note = `Written by fastify-contract generate from ${basename(path)}; edit that instead.\n`
    const served: Files = {
      'openapi.json': `${exactJson(withErrorTable(published), integers)}\n`,
      'routes.json': json(routes),
    }
    const files: Files = {
      ...served,
      'api.d.ts': `// ${note}${await typesOf(document)}`,
      'client.json': json(clientTable(document, replies)),
      'error-numbers.ts': `// ${note}${errorNumberModule(published)}`,
      'digests.json': json(digestsOf(served)),
      'requests.http': `# ${note}${requestFile(document)}`,
      ...(webhooks !== undefined && { 'webhooks.json': json(webhooks) }),
      ...(tools !== undefined && { 'mcp.json': json(tools) }),
    }
    return { files, document, routes, warnings }
  } catch (error) {
    const problem = depthProblem(error)
    if (problem === undefined) throw error
    throw new RefusedDocument(path, [{ place: '#', text: problem, operations: [] }])
  }
}

/**
 * Converts a document. Throws an error with the problems of all stages: a later stage checks what the problems of the
 * earlier ones leave valid.
 */
function checked(published: Document, path: string, errors: ErrorBodySource | undefined, integers: ExactIntegers) {
  const findings = findingsIn(published)
  const structure = findings(structureProblems(published))
  if (structure.problems.some(({ operations }) => operations.length === 0))
    throw new RefusedDocument(path, structure.problems)
  const base = withoutFindings(published, structure)
  const { upgraded, discriminated } = upgrade(base, integers)
  const numbers = errorNumberProblems(base)
  const { refused, warnings } = checkDocument(base, upgraded)
  const early = findings([...numbers, ...refused])
  const document = normalize(withoutFindings(discriminated, early))
  const routes = routesOf(document)
  const replies = int64Responses(document)
  const late = findings([
    ...replies.problems,
    ...defaultProblems(document, routes),
    ...(numbers.length > 0 || errors === undefined ? [] : errorBodyProblems(document, routes, errors)),
  ])
  const found = [structure, early, late]
  const problems = found.flatMap((one) => one.problems)
  if (problems.length > 0) throw new RefusedDocument(path, problems)
  const unused = found.flatMap((one) => one.unused.map((line) => `${line} (no operation uses it)`))
  return { document, routes, replies: replies.table, warnings: [...warnings, ...unused] }
}

const withoutFindings = (document: Document, findings: Findings): Document =>
  findings.problems.length + findings.unused.length === 0 ? document : soundPart(document, findings)

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const digestsOf = (files: Files): Files =>
  Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, createHash('sha256').update(text).digest('hex')]),
  )
