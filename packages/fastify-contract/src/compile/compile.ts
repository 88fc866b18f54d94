import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { Routes } from '../serve/contract.ts'
import { errorNumberModule, errorNumberProblems, withErrorTable } from './document/error-numbers.ts'
import { normalize, placeOf, soundPart, upgrade } from './document/normalize.ts'
import { type Document, outgoingEndpoints } from './document/openapi-document.ts'
import { clientTable, int64Responses } from './emit/client-table.ts'
import { contractTypes } from './emit/contract-types.ts'
import type { Files } from './emit/generated-files.ts'
import { requestFile } from './emit/request-file.ts'
import { convertedOperations, routesOf } from './emit/route-schemas.ts'
import { webhookTable } from './emit/webhook-table.ts'
import { depthProblem, redocly } from './redocly.ts'
import { structureProblems } from './rules/document-structure.ts'
import { type ErrorBodySource, errorBodyProblems } from './rules/error-bodies.ts'
import { unsatisfiableSchemas } from './rules/unsatisfiable-schemas.ts'
import { unsupportedFeatures } from './rules/unsupported-features.ts'
import { defaultProblems, uncompilableSchemas } from './rules/unsupported-schemas.ts'
import { warningsOf } from './rules/warnings.ts'

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
  return await compileDocument(JSON.parse(await bundling), path, errors)
}

/**
 * Compiles a bundled document to the published document, its types, its route schemas, its error numbers, what its
 * client needs, digests that tell the service whether the files belong together, and one request per operation for
 * editors. Rejects with an error with one line for each place that cannot be served, and for each response whose schema
 * does not match the error bodies that `errors` makes.
 */
export async function compileDocument(
  published: Document,
  path: string,
  errors?: ErrorBodySource,
  typesOf = contractTypes,
): Promise<Compiled> {
  try {
    const { upgraded, document, routes, replies } = checked(published, path, errors)
    const webhooks = webhookTable(document)
    const note = `Written by fastify-contract generate from ${basename(path)}; edit that instead.\n`
    const served: Files = { 'openapi.json': json(withErrorTable(published)), 'routes.json': json(routes) }
    const files: Files = {
      ...served,
      'api.d.ts': `// ${note}${await typesOf(document)}`,
      'client.json': json(clientTable(document, replies)),
      'error-numbers.ts': `// ${note}${errorNumberModule(published)}`,
      'digests.json': json(digestsOf(served)),
      'requests.http': `# ${note}${requestFile(document)}`,
      ...(webhooks !== undefined && { 'webhooks.json': json(webhooks) }),
    }
    return { files, document, routes, warnings: warningsOf(published, upgraded) }
  } catch (error) {
    const problem = depthProblem(error)
    throw problem === undefined ? error : refusal(path, [problem])
  }
}

/**
 * Converts a document. Throws an error with the problems of all stages: a later stage checks what the problems of the
 * earlier ones leave valid. Without a valid structure, no other stage can read the document.
 */
function checked(published: Document, path: string, errors: ErrorBodySource | undefined) {
  const structure = structureProblems(published)
  if (structure.length > 0) throw refusal(path, structure)
  const numbers = errorNumberProblems(published)
  const { upgraded, discriminated } = upgrade(published)
  const early = [...numbers, ...unsupportedFeatures(upgraded), ...unsatisfiableSchemas(discriminated)]
  const document = normalize(early.length === 0 ? discriminated : soundPart(discriminated, early))
  const routes = routesOf(document)
  const replies = int64Responses(document)
  const sent = convertedOperations(document, outgoingEndpoints(document))
  const uncompilable = [...uncompilableSchemas(routes), ...uncompilableSchemas(sent)]
  const late = [...replies.problems, ...uncompilable]
  // The other stages compile all schemas.
  if (uncompilable.length === 0) late.push(...defaultProblems(routes))
  if (uncompilable.length === 0 && numbers.length === 0 && errors !== undefined)
    late.push(...errorBodyProblems(document, routes, errors))
  const problems = [...early, ...late]
  if (problems.length > 0) throw refusal(path, problems)
  return { upgraded, document, routes, replies: replies.table }
}

const byPlace = new Intl.Collator('en', { numeric: true })

/** Returns an error with the problems of a document, each once, sorted by their places. */
function refusal(path: string, problems: string[]): Error {
  const lines = [...new Set(problems)].sort((one, other) => byPlace.compare(placeOf(one), placeOf(other)))
  return new Error(`${path} cannot be served as written:\n  ${lines.join('\n  ')}`)
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const digestsOf = (files: Files): Files =>
  Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, createHash('sha256').update(text).digest('hex')]),
  )
