import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { withItemSchemas } from './document/contents.ts'
import { withDirections } from './document/directions.ts'
import { withDiscriminators } from './document/discriminators.ts'
import type { Document } from './document/openapi-document.ts'
import { asOpenApi31 } from './document/openapi-versions.ts'
import { withOperationIds } from './document/operation-ids.ts'
import { withSharedSchemas } from './document/shared-schemas.ts'
import { callStyles, int64Responses } from './emit/client-tables.ts'
import { contractTypes } from './emit/contract-types.ts'
import { errorNumberModule, errorNumberProblems, withErrorTable } from './emit/error-numbers.ts'
import type { Files } from './emit/generated-files.ts'
import { requestFile } from './emit/request-file.ts'
import { routesOf } from './emit/route-schemas.ts'
import { depthProblem, redocly } from './redocly.ts'
import { structureProblems } from './rules/document-structure.ts'
import { type ErrorBodySource, errorBodyProblems } from './rules/error-bodies.ts'
import { defaultProblems, uncompilableSchemas } from './rules/uncompilable-schemas.ts'
import { unsatisfiableSchemas } from './rules/unsatisfiable-schemas.ts'
import { unsupportedFeatures } from './rules/unsupported-features.ts'
import { inexactIntegers } from './rules/unsupported-schemas.ts'

/**
 * Returns the files that are generated from the OpenAPI document at `path`, after linting it with the rules of a
 * redocly.yaml. The same document always gives the same bytes. Rejects with the findings of the linter, each with its
 * place, and with the responses whose schemas do not match the error bodies that `errors` makes.
 */
export async function contractFiles(path: string, rules = 'redocly.yaml', errors?: ErrorBodySource): Promise<Files> {
  const bundling = redocly('bundle', path, '--ext=json', `--config=${rules}`)
  // The linter's message is clearer than the bundler's, so it comes first.
  await Promise.all([redocly('lint', path, '--format=stylish', `--config=${rules}`), bundling.catch(() => {})])
  return await filesOf(JSON.parse(await bundling), path, errors)
}

/**
 * Returns the files that are generated from a bundled document: the published document, its types, its route schemas,
 * its error numbers, the places of int64 values in its responses, the styles of its parameters, digests that tell the
 * service whether the files belong together, and one request per operation for editors. Rejects with an error with one
 * line for each place that cannot be served.
 */
export async function filesOf(
  document: Document,
  path: string,
  errors?: ErrorBodySource,
  typesOf = contractTypes,
): Promise<Files> {
  try {
    return await compiledFiles(document, path, errors, typesOf)
  } catch (error) {
    const problem = depthProblem(error)
    throw problem === undefined ? error : refusal(path, [problem])
  }
}

async function compiledFiles(
  document: Document,
  path: string,
  errors: ErrorBodySource | undefined,
  typesOf: typeof contractTypes,
): Promise<Files> {
  const misplaced = structureProblems(document)
  if (misplaced.length > 0) throw refusal(path, misplaced)
  const upgraded = asOpenApi31(document)
  const problems = [...inexactIntegers(upgraded), ...unsupportedFeatures(upgraded), ...errorNumberProblems(document)]
  if (problems.length > 0) throw refusal(path, problems)
  const contradictions = unsatisfiableSchemas(withDiscriminators(upgraded))
  if (contradictions.length > 0) throw refusal(path, contradictions)
  const normalized = normalizedDocument(upgraded)
  const replies = int64Responses(normalized)
  const routes = routesOf(normalized)
  const others = [...replies.problems, ...uncompilableSchemas(routes)]
  if (others.length > 0) throw refusal(path, others)
  const defaults = defaultProblems(routes)
  if (defaults.length > 0) throw refusal(path, defaults)
  const impossible = errors === undefined ? [] : errorBodyProblems(normalized, routes, errors)
  if (impossible.length > 0) throw refusal(path, impossible)
  const note = `Written by npm run generate from ${basename(path)}; edit that instead.\n`
  const origin = `// ${note}`
  const files: Files = {
    'openapi.json': json(withErrorTable(document)),
    'routes.json': json(routes),
    'api.d.ts': origin + (await typesOf(normalized)),
    'int64-replies.json': json(replies.table),
    'call-styles.json': json(callStyles(normalized)),
    'error-numbers.ts': origin + errorNumberModule(document),
  }
  const requests = `# ${note}${requestFile(normalized)}`
  return { ...files, 'digests.json': json(digestsOf(files)), 'requests.http': requests }
}

/**
 * Returns a document in the form that the generators expect: OpenAPI 3.1, an operationId for each operation,
 * discriminators as schemas, references by name, and separate schemas for requests and responses where these differ.
 */
export const normalizedDocument = (document: Document): Document =>
  withDirections(withSharedSchemas(withItemSchemas(withDiscriminators(withOperationIds(asOpenApi31(document))))))

const refusal = (path: string, problems: string[]) =>
  new Error(`${path} cannot be served as written:\n  ${problems.join('\n  ')}`)

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const digestsOf = (files: Files): Files =>
  Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, createHash('sha256').update(text).digest('hex')]),
  )
