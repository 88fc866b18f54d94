import type { Int64Responses } from 'fastify-contract/client'
import type { Routes } from 'fastify-contract/contract'
import { withoutJsonRanges } from '../document/contents.ts'
import { resolve } from '../document/json-pointer.ts'
import { type Document, endpoints } from '../document/openapi-document.ts'
import { withoutDefaults } from '../document/parameter-objects.ts'
import { isNeedless } from '../passes/lenient/needless-references.ts'
import { normalize, upgrade } from '../passes/normalize.ts'
import { refusal, warning } from '../reports/reports.ts'
import { checkDocument, sharedRoutes } from '../rules/check-document.ts'
import { structureProblems } from '../rules/document-structure.ts'
import { type ErrorBodySource, errorBodyProblems } from '../rules/error-bodies.ts'
import { errorNumberProblems } from '../rules/error-number-rules.ts'
import { invalidDefaults } from '../rules/parameter-rules.ts'
import {
  byCost,
  type Findings,
  findingsIn,
  isOfWhole,
  operationsOf,
  type Problem,
  pointerOf,
  RejectedDocument,
  soundPart,
  withoutUnusedCallbacks,
} from '../rules/problems.ts'
import { visible } from '../text/source-text.ts'
import { int64Responses } from './client-json.ts'
import { routesOf, routingOf } from './route-table.ts'

/** What decides whether a document can be served. */
export type CheckOptions = {
  /** The bodies of the service's own errors, to check that they match the declared responses. */
  errors?: ErrorBodySource | undefined
  /** Whether to serve the other operations if some cannot be served. */
  skipUnsupported?: boolean
  /** The references without a target, by the pointers of the objects that have them. */
  unresolved?: ReadonlyMap<string, { text: string }>
}

/** A document in the form of `normalize`, with what is made of it first. */
type Converted = {
  document: Document
  /** The document that is published. */
  published: Document
  routes: Routes
  replies: Int64Responses
  warnings: string[]
}

/** A document that can be served. `skipped` are the problems that cost the other operations. */
export type Served = Converted & { skipped: Problem[] }

/**
 * Converts a document, or with `skipUnsupported` the part of it that can be served. Throws an error with the problems of
 * the document if it has any, or in a part if one affects the whole document, or if all operations have a problem.
 */
export function servedDocument(
  given: Document,
  path: string,
  { errors, skipUnsupported = false, unresolved = new Map() }: CheckOptions,
): Served {
  const skipped: Problem[] = []
  for (let published = given; ; ) {
    const result = checked(published, unresolved, skipUnsupported ? undefined : errors, skipUnsupported)
    if (!Array.isArray(result)) {
      const mismatches = skipUnsupported && errors ? errorBodyProblems(result.document, result.routes, errors) : []
      const { problems } = findingsIn(published)(mismatches)
      if (problems.length === 0) return { ...result, skipped: byCost(skipped) }
      throw new RejectedDocument(path, problems, published)
    }
    // A part may show problems that the others hid.
    skipped.push(...result)
    if (skipUnsupported && !result.some(isOfWhole)) published = soundPart(published, { problems: result, unused: [] })
    if (!skipUnsupported || result.some(isOfWhole) || endpoints(published).length === 0)
      throw new RejectedDocument(path, skipped, given)
  }
}

/**
 * Converts a document, or returns the problems of all stages: a later stage checks what the problems of the earlier ones
 * leave valid. Of a document that is to be served in a part, the later stages see that part.
 */
function checked(
  published: Document,
  unresolved: NonNullable<CheckOptions['unresolved']>,
  errors: ErrorBodySource | undefined,
  isPart: boolean,
): Converted | Problem[] {
  const findings = findingsIn(published)
  const structure = findings(withReferences(structureProblems(published), published, unresolved))
  if (structure.problems.some(isOfWhole)) return structure.problems
  const base = withoutFindings(published, structure)
  const { upgraded, discriminated } = upgrade(base)
  const numbers = errorNumberProblems(base)
  const { rejected, warnings } = checkDocument(base, upgraded)
  const early = findings([...numbers, ...rejected])
  const sound = withoutFindings(discriminated, early)
  if (isPart) {
    const before = [...structure.problems, ...early.problems]
    // Without some components, the operations may have other problems, so that another one of those is left out.
    const isCertain = before.length === 0 || (hasSame(base, published) && hasSame(sound, discriminated))
    const problems = isCertain ? [...before, ...findings(sharedIn(sound)).problems] : before
    if (problems.length > 0) return problems
  }
  const normalized = normalize(sound)
  const described = routesOf(normalized)
  const invalid = invalidDefaults(normalized, described)
  const document = invalid.size === 0 ? normalized : withoutDefaults(normalized, invalid.keys())
  const routes = invalid.size === 0 ? described : routesOf(document)
  const unusedDefaults = Array.from(invalid, ([pointer, reason]) =>
    warning('invalid-default', pointer, `${reason}, so it is not used; correct it`),
  )
  const replies = int64Responses(document)
  const late = findings(numbers.length > 0 || errors === undefined ? [] : errorBodyProblems(document, routes, errors))
  const unserved = late.problems.flatMap(operationsOf)
  const found = [structure, early, late, findings(sharedRoutes(document, routes.operations, unserved))]
  const problems = found.flatMap((one) => one.problems)
  if (problems.length > 0) return problems
  const unused = found.flatMap((one) => one.unused)
  const allWarnings = [...warnings, ...unusedDefaults, ...unused].map(visible)
  const sent = withoutUnusedCallbacks(published, { unused })
  return { published: sent, document, routes, replies, warnings: allWarnings }
}

/** Returns whether two documents have the same components. */
const hasSame = ({ components }: Document, other: Document): boolean => components === other.components

/** Returns the problems of routes of a document with discriminators as schemas. */
function sharedIn(discriminated: Document): string[] {
  const document = withoutJsonRanges(discriminated)
  return sharedRoutes(document, routingOf(document), [])
}

/** Returns the problems of a structure with those of the references without a target, which are known better. */
function withReferences(lines: string[], document: Document, unresolved: NonNullable<CheckOptions['unresolved']>) {
  const known = [...unresolved].filter(([pointer]) => !isNeedless(pointer) && resolve(document, pointer) !== undefined)
  const others = lines.filter((line) => !unresolved.has(pointerOf(line).replace(/\/\$ref$/, '')))
  return [...known.map(([pointer, { text }]) => refusal('reference-without-target', pointer, text)), ...others]
}

const withoutFindings = (document: Document, findings: Findings): Document =>
  findings.problems.length + findings.unused.length === 0 ? document : soundPart(document, findings)
