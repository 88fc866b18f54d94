import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { Int64Responses } from 'fastify-contract/client'
import { stringifyJson } from 'fastify-contract/json'
import { createValidator, loadSchemaCode, schemaCode } from 'fastify-contract/schema'
import { errorNumberModule, withErrorTable } from '../document/error-numbers.ts'
import { keysOf, resolve } from '../document/json-pointer.ts'
import { type Document, endpoints } from '../document/openapi-document.ts'
import { withoutDefaults } from '../document/parameter-objects.ts'
import { validRequests } from '../examples/valid-requests.ts'
import { lenientDocument } from '../passes/lenient/lenient-document.ts'
import type { TextAt } from '../passes/lenient/lenient-structure.ts'
import { isNeedless } from '../passes/lenient/needless-references.ts'
import { asPublished, normalize, upgrade } from '../passes/normalize.ts'
import type { Bundle } from '../read/bundle-sources.ts'
import { readSources, type Sources } from '../read/source-files.ts'
import { bundleWith, depthProblem } from '../redocly/redocly.ts'
import { refusal, warning } from '../reports/reports.ts'
import { checkDocument, sharedRoutes } from '../rules/check-document.ts'
import { structureProblems } from '../rules/document-structure.ts'
import { type ErrorBodySource, errorBodyProblems } from '../rules/error-bodies.ts'
import { errorNumberProblems } from '../rules/error-number-rules.ts'
import {
  type Findings,
  findingsIn,
  type PlaceLine,
  type Problem,
  pointerOf,
  RejectedDocument,
  soundPart,
  withoutRepeats,
  withoutUnusedCallbacks,
} from '../rules/problems.ts'
import { skippedOperations, skippedRoutes } from '../rules/skipped-operations.ts'
import { invalidDefaults } from '../rules/unsupported-parameters.ts'
import { requestJson } from '../text/foreign-text.ts'
import { lineText, visible } from '../text/source-text.ts'
import { clientTable, int64Responses } from './client-table.ts'
import { contractTypes } from './contract-types.ts'
import { exampleCurl } from './example-curl.ts'
import type { Files, Generated } from './generated-files.ts'
import { mcpTable } from './mcp-table.ts'
import { requestFile } from './request-file.ts'
import { routesOf } from './route-schemas.ts'
import { webhookTable } from './webhook-table.ts'

/** What is made of a document. */
export type Compiled = Generated & {
  /** One line for each location that is served in a way that its author may not expect. */
  warnings: string[]
  /** The problems that cost the operations that are not served. */
  skipped: Problem[]
}

/** How a document is compiled. */
export type CompileOptions = {
  /** The bodies of the service's own errors, to check that they match the declared responses. */
  errors?: ErrorBodySource | undefined
  /** The configuration for bundling, such as its decorators; default: redocly.yaml if there is one. */
  rules?: string | undefined
  /** Whether to serve the other operations if some cannot be served. */
  skipUnsupported?: boolean
  /** The files of the document; default: they are read. */
  sources?: Sources
}

/**
 * Compiles the OpenAPI document at `path`. Rejects with a RejectedDocument that lists the problems of all stages.
 */
export async function compileContract(path: string, options: CompileOptions = {}): Promise<Compiled> {
  const sources = options.sources ?? (await readSources(path))
  const bundled = await bundleWith(sources, options.rules)
  const { document: published, problems: unresolved } = bundled
  const [source] = sources.files.values()
  const textAt = (pointer: string) => (bundled.isElsewhere(pointer) ? undefined : source?.textAt(keysOf(pointer)))
  const placed = placesIn(sources, bundled)
  const assumed = withoutRepeats(sources.warnings.map(visible))
  try {
    const given = { ...options, textAt, unresolved }
    const compiled = await compileDocument(published, path, given)
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

/** The size of files up to which places are found in them, in characters: it takes seconds in larger ones. */
const placesLimit = 4_000_000

/** Returns a function that adds the places of locations to lines about them. */
function placesIn({ files }: Sources, { placeOf }: Pick<Bundle, 'placeOf'>): PlaceLine {
  let size = 0
  for (const source of files.values()) size += source?.text.length ?? 0
  return (line, pointer) => (size > placesLimit ? line : `${line} (${placeOf(pointer)})`)
}

/** What decides whether a document can be served. */
type CheckOptions = Pick<CompileOptions, 'errors' | 'skipUnsupported'> & {
  /** The references without a target, by the pointers of the objects that have them. */
  unresolved?: ReadonlyMap<string, { text: string }>
}

/**
 * Compiles a bundled document to the published document, its types, its route schemas, its error numbers, what its
 * client needs, digests that tell the service whether the files belong together, and one request per operation for
 * editors. Rejects with an error with one line for each location that cannot be served, and for each response whose schema
 * does not match the error bodies that `errors` makes.
 */
export async function compileDocument(
  given: Document,
  path: string,
  options: CheckOptions & { textAt?: TextAt } = {},
  typesOf = contractTypes,
): Promise<Compiled> {
  try {
    const { mended, advice } = lenientDocument(given, options.textAt, options.unresolved)
    const { published, skipped, document, routes, replies, warnings } = converted(mended, path, options)
    const webhooks = webhookTable(document)
    const tools = mcpTable(document)
    const note = `Written by fastify-contract generate from ${lineText(basename(path))}; edit that instead.\n`
    const code = schemaCode(routes)
    const validator = createValidator(routes.schemas, loadSchemaCode(code, routes))
    const valid = validRequests(document, routes, validator)
    const requests = requestFile(document, valid)
    const example = exampleCurl(document, valid)
    const served: Files = {
      'openapi.json': json(withErrorTable(asPublished(published))),
      'routes.json': json({
        ...routes,
        ...(skipped.length > 0 && { skipped: skippedRoutes(mended, skipped, routes.operations) }),
        ...(example !== undefined && { example }),
      }),
      'schemas.js': `// ${note}${code}`,
    }
    const files: Files = {
      ...served,
      'api.d.ts': `// ${note}${typesOf(document)}`,
      'client.json': json(clientTable(document, replies)),
      'error-numbers.ts': `// ${note}${errorNumberModule(published)}`,
      'digests.json': json(digestsOf(served)),
      'requests.http': `# ${requestJson(note)}${requests}`,
      ...(webhooks !== undefined && { 'webhooks.json': json(webhooks) }),
      ...(tools !== undefined && { 'mcp.json': json(tools) }),
      ...(skipped.length > 0 && { 'skipped-operations.json': json(skippedOperations(skipped)) }),
    }
    return { files, document, routes, warnings: [...adviceFor(given, advice, skipped), ...warnings], skipped }
  } catch (error) {
    const problem = depthProblem(error)
    if (problem === undefined) throw error
    throw new RejectedDocument(path, [{ pointer: '#', text: problem, operations: [] }], given)
  }
}

/** Returns the lines of advice, except those about skipped operations only. */
function adviceFor(document: Document, advice: string[], skipped: Problem[]): string[] {
  const lines = advice.map(visible)
  if (skipped.length === 0) return lines
  const lost = new Set(skipped.flatMap(({ operations }) => operations))
  const findings = findingsIn(document)
  return lines.filter((line) => {
    const operations = findings([line]).problems.flatMap((problem) => problem.operations)
    return operations.length === 0 || operations.some((one) => !lost.has(one))
  })
}

/** A document that can be served, in the form of `normalize`, with what is made of it first. */
type Converted = Pick<Compiled, 'document' | 'routes' | 'warnings'> & { published: Document; replies: Int64Responses }

/**
 * Converts a document, or with `skipUnsupported` the part of it that can be served; `skipped` are the problems that cost
 * the other operations. Throws an error with the problems of the document if it has any, or in a part if one affects the
 * whole document, or if all operations have a problem.
 */
function converted(
  given: Document,
  path: string,
  { errors, skipUnsupported = false, unresolved = new Map() }: CheckOptions,
): Converted & { skipped: Problem[] } {
  const skipped: Problem[] = []
  for (let published = given; ; ) {
    const result = checked(published, unresolved, skipUnsupported ? undefined : errors)
    if (!Array.isArray(result)) {
      const mismatches = skipUnsupported && errors ? errorBodyProblems(result.document, result.routes, errors) : []
      const { problems } = findingsIn(published)(mismatches)
      if (problems.length === 0) return { ...result, skipped }
      throw new RejectedDocument(path, problems, published)
    }
    const rejection = new RejectedDocument(path, result, published)
    if (!skipUnsupported || result.some(({ operations }) => operations.length === 0)) throw rejection
    published = soundPart(published, { problems: result, unused: [] })
    if (endpoints(published).length === 0) throw rejection
    // A part may show problems that the others hid.
    skipped.push(...rejection.problems)
  }
}

/**
 * Converts a document, or returns the problems of all stages: a later stage checks what the problems of the earlier ones
 * leave valid.
 */
function checked(
  published: Document,
  unresolved: NonNullable<CheckOptions['unresolved']>,
  errors: ErrorBodySource | undefined,
): Converted | Problem[] {
  const findings = findingsIn(published)
  const structure = findings(withReferences(structureProblems(published), published, unresolved))
  if (structure.problems.some(({ operations }) => operations.length === 0)) return structure.problems
  const base = withoutFindings(published, structure)
  const { upgraded, discriminated } = upgrade(base)
  const numbers = errorNumberProblems(base)
  const { rejected, warnings } = checkDocument(base, upgraded)
  const early = findings([...numbers, ...rejected])
  const normalized = normalize(withoutFindings(discriminated, early))
  const described = routesOf(normalized)
  const invalid = invalidDefaults(normalized, described)
  const document = invalid.size === 0 ? normalized : withoutDefaults(normalized, invalid.keys())
  const routes = invalid.size === 0 ? described : routesOf(document)
  const unusedDefaults = Array.from(invalid, ([pointer, reason]) =>
    warning('invalid-default', pointer, `${reason}, so it is not used; correct it`),
  )
  const replies = int64Responses(document)
  const late = findings(numbers.length > 0 || errors === undefined ? [] : errorBodyProblems(document, routes, errors))
  const unserved = late.problems.flatMap(({ operations }) => operations)
  const found = [structure, early, late, findings(sharedRoutes(document, routes, unserved))]
  const problems = found.flatMap((one) => one.problems)
  if (problems.length > 0) return problems
  const unused = found.flatMap((one) => one.unused)
  const allWarnings = [...warnings, ...unusedDefaults, ...unused].map(visible)
  const sent = withoutUnusedCallbacks(published, { unused })
  return { published: sent, document, routes, replies, warnings: allWarnings }
}

/** Returns the problems of a structure with those of the references without a target, which are known better. */
function withReferences(lines: string[], document: Document, unresolved: NonNullable<CheckOptions['unresolved']>) {
  const known = [...unresolved].filter(([pointer]) => !isNeedless(pointer) && resolve(document, pointer) !== undefined)
  const others = lines.filter((line) => !unresolved.has(pointerOf(line).replace(/\/\$ref$/, '')))
  return [...known.map(([pointer, { text }]) => refusal('reference-without-target', pointer, text)), ...others]
}

const withoutFindings = (document: Document, findings: Findings): Document =>
  findings.problems.length + findings.unused.length === 0 ? document : soundPart(document, findings)

const json = (value: unknown): string => `${stringifyJson(value, '  ')}\n`

const digestsOf = (files: Files): Files =>
  Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, createHash('sha256').update(text).digest('hex')]),
  )
