import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { Routes } from '../serve/contract.ts'
import { schemaCode } from '../serve/schema-code.ts'
import { errorNumberModule, errorNumberProblems, withErrorTable } from './document/error-numbers.ts'
import { type ExactIntegers, exactIntegers, exactJson, withExactDigits } from './document/exact-integers.ts'
import { resolve } from './document/json-pointer.ts'
import { normalize, upgrade } from './document/normalize.ts'
import { type Document, endpoints } from './document/openapi-document.ts'
import { withoutDefaults } from './document/parameter-objects.ts'
import { clientTable, int64Responses } from './emit/client-table.ts'
import { contractTypes } from './emit/contract-types.ts'
import type { Files } from './emit/generated-files.ts'
import { mcpTable } from './emit/mcp-table.ts'
import { requestFile } from './emit/request-file.ts'
import { routesOf } from './emit/route-schemas.ts'
import { webhookTable } from './emit/webhook-table.ts'
import { bundle, depthProblem, lintCorrectness } from './redocly.ts'
import { checkDocument, sharedRoutes } from './rules/check-document.ts'
import { structureProblems } from './rules/document-structure.ts'
import { type ErrorBodySource, errorBodyProblems } from './rules/error-bodies.ts'
import {
  type Findings,
  findingsIn,
  type Problem,
  RejectedDocument,
  soundPart,
  withoutRepeats,
} from './rules/problems.ts'
import { skippedOperations, skippedRoutes } from './rules/skipped-operations.ts'
import { invalidDefaults } from './rules/unsupported-parameters.ts'

/** What is made of a document. */
export type Compiled = {
  /** The generated files: the same document always gives the same bytes. */
  files: Files
  /** The document in the form of `normalize`. */
  document: Document
  routes: Routes
  /** The exact values of integers that a double cannot hold. */
  integers: ExactIntegers
  /** One line for each location that is served in a way that its author may not expect. */
  warnings: string[]
}

/** How a document is compiled. */
export type CompileOptions = {
  /** The bodies of the service's own errors, to check that they match the declared responses. */
  errors?: ErrorBodySource | undefined
  /** The configuration for bundling, such as its decorators; default: redocly.yaml if there is one. */
  rules?: string | undefined
  /** Whether to serve the other operations if some cannot be served. */
  skipUnsupported?: boolean
}

/**
 * Compiles the OpenAPI document at `path`. Rejects with a RejectedDocument that lists the problems of all stages: what
 * the linter finds by the rules for correctness, and what `compileDocument` finds.
 */
export async function compileContract(path: string, options: CompileOptions = {}): Promise<Compiled> {
  const [linted, published] = await Promise.all([lintCorrectness(path), bundle(path, options.rules)])
  const integers = await exactIntegers(published, path)
  const lines = linted.map((line) => withReference(line, published))
  return await compileDocument(published, path, { ...options, linted: lines }, contractTypes, integers)
}

/** Returns a line of the linter about a reference without a target, with that reference. */
const withReference = (line: string, document: Document): string =>
  line.replace(/^(.*?): Can't resolve \$ref/, (found, pointer) => {
    const { $ref } = Object(resolve(document, pointer))
    return typeof $ref === 'string' ? `${pointer}: ${$ref} does not resolve; correct the reference` : found
  })

/**
 * Compiles a bundled document to the published document, its types, its route schemas, its error numbers, what its
 * client needs, digests that tell the service whether the files belong together, and one request per operation for
 * editors. Rejects with an error with one line for each location that cannot be served, and for each response whose schema
 * does not match the error bodies that `errors` makes.
 *
 * @param linted The findings of the linter, as lines `POINTER: TEXT`.
 * @param integers The exact values of integers in the document that a double cannot hold.
 */
export async function compileDocument(
  given: Document,
  path: string,
  { errors, skipUnsupported = false, linted = [] }: CompileOptions & { linted?: string[] } = {},
  typesOf = contractTypes,
  integers: ExactIntegers = new Map(),
): Promise<Compiled> {
  let published = given
  let skipped: Problem[] = []
  try {
    if (skipUnsupported) ({ published, skipped } = servablePart(given, path, linted, integers))
    const lines = skipUnsupported ? [] : linted
    const { document, routes, replies, warnings } = checked(published, path, lines, errors, integers)
    const webhooks = webhookTable(document)
    const tools = mcpTable(document)
    const note = `Written by fastify-contract generate from ${basename(path)}; edit that instead.\n`
    const served: Files = {
      'openapi.json': `${exactJson(withErrorTable(published), integers)}\n`,
      'routes.json': json({
        ...routes,
        ...(skipped.length > 0 && { skipped: skippedRoutes(given, skipped, routes.operations) }),
      }),
      'schemas.js': `// ${note}${schemaCode(routes)}`,
    }
    const files: Files = {
      ...served,
      'api.d.ts': `// ${note}${withExactDigits(typesOf(document), integers)}`,
      'client.json': json(clientTable(document, replies)),
      'error-numbers.ts': `// ${note}${errorNumberModule(published)}`,
      'digests.json': json(digestsOf(served)),
      'requests.http': `# ${note}${withExactDigits(requestFile(document), integers)}`,
      ...(webhooks !== undefined && { 'webhooks.json': json(webhooks) }),
      ...(tools !== undefined && { 'mcp.json': json(tools) }),
      ...(skipped.length > 0 && { 'skipped-operations.json': json(skippedOperations(skipped)) }),
    }
    return { files, document, routes, integers, warnings }
  } catch (error) {
    const problem = depthProblem(error)
    if (problem === undefined) throw error
    throw new RejectedDocument(path, [{ pointer: '#', text: problem, operations: [] }], published)
  }
}

/**
 * Returns the part of a document that can be served, and the problems that cost the other operations. Throws if a
 * problem costs the whole document, if an operation has a reference without a target, or if all operations have a
 * problem.
 */
function servablePart(
  given: Document,
  path: string,
  linted: string[],
  integers: ExactIntegers,
): { published: Document; skipped: Problem[] } {
  const skipped: Problem[] = []
  const findings = findingsIn(given)
  // A reference without a target is a mistake of the document, not something that cannot be served.
  const { problems } = findings(linted.filter((line) => line.endsWith(', no-unresolved-refs)')))
  if (problems.length > 0)
    throw new RejectedDocument(
      path,
      problems.map((problem) => ({ ...problem, operations: [] })),
      given,
    )
  // The compiler finds itself what it cannot read outside of operations.
  const ofOperations = linted.filter((line) =>
    findings([line]).problems.some(({ operations }) => operations.length > 0),
  )
  for (let published = given; ; ) {
    try {
      checked(published, path, published === given ? ofOperations : [], undefined, integers)
      return { published, skipped }
    } catch (error) {
      if (!(error instanceof RejectedDocument) || error.problems.some(({ operations }) => operations.length === 0))
        throw error
      published = soundPart(published, { problems: error.problems, unused: [] })
      if (endpoints(published).length === 0) throw error
      // A part may show problems that the others hid.
      skipped.push(...error.problems)
    }
  }
}

/**
 * Converts a document. Throws an error with the problems of all stages: a later stage checks what the problems of the
 * earlier ones leave valid.
 */
function checked(
  published: Document,
  path: string,
  linted: string[],
  errors: ErrorBodySource | undefined,
  integers: ExactIntegers,
) {
  const findings = findingsIn(published)
  const structure = findings([...linted, ...withoutRepeats(structureProblems(published), linted)])
  if (structure.problems.some(({ operations }) => operations.length === 0))
    throw new RejectedDocument(path, structure.problems, published)
  const base = withoutFindings(published, structure)
  const { upgraded, discriminated } = upgrade(base, integers)
  const numbers = errorNumberProblems(base)
  const { rejected, warnings } = checkDocument(base, upgraded)
  const early = findings([...numbers, ...rejected])
  const normalized = normalize(withoutFindings(discriminated, early))
  const described = routesOf(normalized)
  const invalid = invalidDefaults(normalized, described)
  const document = invalid.size === 0 ? normalized : withoutDefaults(normalized, invalid.keys())
  const routes = invalid.size === 0 ? described : routesOf(document)
  const unusedDefaults = Array.from(
    invalid,
    ([pointer, reason]) => `${pointer}: ${reason}, so it is not used; correct it`,
  )
  const replies = int64Responses(document)
  const late = findings([
    ...replies.problems,
    ...(numbers.length > 0 || errors === undefined ? [] : errorBodyProblems(document, routes, errors)),
  ])
  const unserved = late.problems.flatMap(({ operations }) => operations)
  const found = [structure, early, late, findings(sharedRoutes(document, routes, unserved))]
  const problems = found.flatMap((one) => one.problems)
  if (problems.length > 0) throw new RejectedDocument(path, problems, published)
  const unused = found.flatMap((one) => one.unused.map((line) => `${line} (no operation uses it)`))
  return { document, routes, replies: replies.table, warnings: [...warnings, ...unusedDefaults, ...unused] }
}

const withoutFindings = (document: Document, findings: Findings): Document =>
  findings.problems.length + findings.unused.length === 0 ? document : soundPart(document, findings)

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const digestsOf = (files: Files): Files =>
  Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, createHash('sha256').update(text).digest('hex')]),
  )
