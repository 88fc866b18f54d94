import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { exampleCommand } from '../contract/example-command.ts'
import type { Contract, Operation } from '../contract/routes.ts'
import { checkPrefixes, prefixAddedTo } from '../routes/prefixes.ts'
import { servedDocuments } from '../routes/server-parts.ts'
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
    added: prefixAddedTo(contract.routes, prefix),
    contract,
    docs: docs[prefix] ?? page(prefix),
  }))
}

/**
 * Throws an error if a server of `createMultiServer` has other prefixes than the service, or a document of another
 * prefix. Its log, metrics and pages would otherwise name the wrong document. Other servers are not checked.
 */
export function checkServed({ contracts }: Served, app: FastifyInstance): void {
  const served = servedDocuments(app)
  if (served === undefined) return
  const listed = (one: object) => Object.keys(one).sort().join(', ')
  if (contracts === undefined)
    throw new Error(`the server has the prefixes ${listed(served)}; write them in \`contracts\` of runService, too`)
  if (listed(served) !== listed(contracts))
    throw new Error(
      `the server has the prefixes ${listed(served)}, but \`contracts\` of runService has ${listed(contracts)}; write the ` +
        'same in both',
    )
  for (const [prefix, { routes }] of Object.entries(served)) {
    if (contracts[prefix]?.routes === routes) continue
    const [other] = Object.entries(contracts).find(([, contract]) => contract.routes === routes) ?? []
    if (other !== undefined)
      throw new Error(`the server has the contract of ${other} below ${prefix}; use the contract of ${prefix} there`)
  }
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
