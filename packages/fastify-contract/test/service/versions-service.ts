import { bearer, type Contract, createMultiServer } from '../../src/index.ts'
import { type MultiService, runService, type Service } from '../../src/service/service.ts'
import { compileRoutes } from '../support/serve-document.ts'

// Runs a service with the documents in the environment variable DOCUMENTS, by their prefixes.
const documents = JSON.parse(process.env.DOCUMENTS as string)
const contracts = Object.fromEntries(
  Object.entries(documents).map(([prefix, document]) => {
    const example = prefix === '/v1' ? { example: "curl 'http://service.invalid/v1/pets' -H 'A: ~access-token~'" } : {}
    const other = prefix === '/v2' ? { example: "curl 'http://service.invalid/pets'" } : {}
    const examples = process.env.CURL === 'no' ? {} : { ...example, ...other }
    return [
      prefix,
      { documentText: JSON.stringify(document), routes: { ...compileRoutes(document as never), ...examples } },
    ]
  }),
)

const handlersOf = (prefix: string) => ({
  listPets: async () => ({ status: 200, body: prefix }),
  wait: async () => {
    process.stdout.write(`waiting ${prefix}\n`)
    await new Promise((resolve) => setTimeout(resolve, 500))
    return { status: 200, body: prefix }
  },
  fail: async () => {
    throw new Error('failed')
  },
})

// The server may have other prefixes than the service: SERVED has the prefix of the contract of each.
const servedAt: Record<string, string> =
  process.env.SERVED === undefined
    ? Object.fromEntries(Object.keys(contracts).map((prefix) => [prefix, prefix]))
    : JSON.parse(process.env.SERVED)

/** Returns a contract, or a copy that an application may make. */
const ofApplication = (contract: Contract | undefined): Contract =>
  (process.env.COPY === 'yes' && contract ? { ...contract, routes: { ...contract.routes } } : contract) as Contract

const createServer: Awaited<ReturnType<MultiService<string, string>['open']>>['createServer'] = (
  given,
  verifyToken,
  settings,
) =>
  createMultiServer<Record<string, object>>({
    ...settings,
    errors: Object.keys(servedAt)[0] as string,
    contracts: Object.fromEntries(
      Object.entries(servedAt).map(([prefix, of]) => [
        prefix,
        {
          contract: ofApplication(given[of]),
          handlers: handlersOf(prefix),
          verifiers: { token: bearer(verifyToken) },
          errorBody: ({ error }) => ({ contentType: 'application/json', body: { error, of: prefix } }),
        },
      ]),
    ),
  })

const single: Service<string> = {
  name: 'pets',
  contract: contracts['/v1'] as Contract,
  open: async () => ({ createServer: (_, ...others) => createServer(contracts, ...others) }),
}

await (process.env.SINGLE === 'yes'
  ? runService(single)
  : runService({
      name: 'pets',
      contracts,
      ...(process.env.DOCS !== undefined && { docs: { '/v1': process.env.DOCS } }),
      open: async () => ({ createServer }),
    }))
