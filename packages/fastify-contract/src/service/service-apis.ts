import { join } from 'node:path'
import { exampleCommand } from '../contract/example-command.ts'
import type { Contract, Operation } from '../contract/routes.ts'
import { addedPrefix, checkPrefixes } from '../routes/prefixes.ts'
import type { AdminApi } from './admin-pages.ts'

/** The documents of a service: one, or several by their prefixes. */
export type Served =
  | { contract: Contract; docs?: string; contracts?: undefined }
  | { contracts: Record<string, Contract>; docs?: Partial<Record<string, string>>; contract?: undefined }

/**
 * Returns the documents that a service serves, with their documentation pages: by default, that of a document below `/v1`
 * is dist/docs/v1/index.html. Throws an error for a wrong prefix.
 */
export function servedApis(service: Served): AdminApi[] {
  const page = (prefix: string) => join('dist', 'docs', prefix, 'index.html')
  if (service.contracts === undefined)
    return [{ prefix: '', added: '', contract: service.contract, docs: service.docs ?? page('') }]
  const { contracts, docs = {} } = service
  checkPrefixes(Object.keys(contracts))
  return Object.entries(contracts).map(([prefix, contract]) => ({
    prefix,
    added: addedPrefix(contract.routes, prefix),
    contract,
    docs: docs[prefix] ?? page(prefix),
  }))
}

/** Returns the versions of the documents, with their prefixes. */
export const versionsOf = (apis: AdminApi[]): string =>
  apis.map(({ prefix, contract }) => `${prefix} ${contract.routes.info.version}`.trim()).join(', ')

/** Returns a command for each document that calls the service at `url` with a token; undefined without any example. */
export function exampleCommands(apis: AdminApi[], url: string, token: string): string | undefined {
  const commands = apis.flatMap(({ contract, added }) => exampleCommand(contract.routes, url + added, token) ?? [])
  return commands.length === 0 ? undefined : commands.join('\n')
}

/** Returns the operations of all documents. */
export const operationsOf = (apis: AdminApi[]): Operation[] =>
  apis.flatMap(({ contract }) => contract.routes.operations)
