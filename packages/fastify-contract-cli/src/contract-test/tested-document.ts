import type { Contract } from 'fastify-contract/contract'
import { parseExactJson } from 'fastify-contract/json'
import { createValidator, loadSchemaCode } from 'fastify-contract/schema'
import { byOperationId, type Document, type Endpoint, endpoints } from '../document/openapi-document.ts'
import { checkedDocument } from '../emit/checked-document.ts'
import { type Served, servedDocument } from '../emit/served-document.ts'
import { skippedOperations } from '../emit/skipped-operations-json.ts'
import { lenientDocument } from '../passes/lenient/lenient-document.ts'
import { normalizedDocument } from '../passes/normalize.ts'
import type { ResponseContract } from './checks/check.ts'

/** A document whose operations are tested. */
export type TestedDocument = {
  document: Document
  contract: Omit<ResponseContract, 'isOwn' | 'hasAccepted'>
  /** The operations that cannot be tested, such as `GET /pets`, each with the reasons. */
  skipped: { operation: string; reasons: string[] }[]
}

/**
 * Reads a document: a file with its overlays, a document in memory, or the contract that was generated from it. Rejects with a
 * RejectedDocument if nothing in it can be tested.
 */
export async function testedDocument(
  given: string | Document | Contract,
  overlays?: string[],
): Promise<TestedDocument> {
  if (typeof given === 'string') return testedPart(await checkedDocument(given, { overlays, skipUnsupported: true }))
  if ('routes' in given) return testedContract(given)
  const { mended } = lenientDocument(given)
  return testedPart(servedDocument(mended, given.info.title, { skipUnsupported: true }))
}

function testedPart({ document, routes, skipped }: Served): TestedDocument {
  const validator = createValidator(routes.schemas)
  return tested(document, routes, validator, skippedOperations(skipped))
}

function testedContract({ documentText, routes, schemaCode }: Contract): TestedDocument {
  const document = normalizedDocument(parseExactJson(documentText) as Document)
  const compiled = schemaCode === undefined ? undefined : loadSchemaCode(schemaCode, routes)
  return tested(document, routes, createValidator(routes.schemas, compiled), [])
}

function tested(
  document: Document,
  { operations, schemas }: Contract['routes'],
  validator: ReturnType<typeof createValidator>,
  skipped: TestedDocument['skipped'],
): TestedDocument {
  const byId = byOperationId(operations)
  const routeOf = ({ operationId }: Endpoint) => byId.get(operationId)
  return { document, contract: { document, validator, schemas, routeOf }, skipped }
}

/**
 * Returns the operations that are selected by operationId or as `METHOD /path`. Throws an Error for one that the document
 * does not have.
 */
export function selectedOperations(document: Document, selected: string[] | undefined): Endpoint[] {
  const all = endpoints(document)
  if (selected === undefined) return all
  for (const name of selected)
    if (!all.some((one) => isNamed(one, name)))
      throw new Error(`operations: the document has no operation ${name}; write an operationId or METHOD /path`)
  return all.filter((one) => selected.some((name) => isNamed(one, name)))
}

const isNamed = ({ operationId, method, path }: Endpoint, name: string): boolean =>
  name === operationId || name === `${method} ${path}`
