import { readFileSync } from 'node:fs'
import type { Contract } from 'fastify-contract'
import { evaluateSchemaCode, schemaCode } from 'fastify-contract/schema'
import { compileRoutes, type Document } from 'fastify-contract-cli/testing'
import { parse } from 'yaml'

/**
 * A change of the document that the server is made from. The tools get the unchanged document, so that the server
 * deviates from it.
 */
// biome-ignore lint/suspicious/noExplicitAny: a fault names the members that it changes
export type DocumentChange = (document: any) => void

/** Returns the contract of a document in a YAML file after a change. */
export function faultyContract(file: string, change: DocumentChange | undefined): Contract {
  const document: Document = parse(readFileSync(file, 'utf8'))
  change?.(document)
  const routes = compileRoutes(document)
  return { routes, schemaCode: evaluateSchemaCode(schemaCode(routes)), documentText: JSON.stringify(document) }
}
