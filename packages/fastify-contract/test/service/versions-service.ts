import { bearer, createMultiServer } from '../../src/index.ts'
import { runService } from '../../src/service/service.ts'
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

await runService({
  name: 'pets',
  contracts,
  ...(process.env.DOCS !== undefined && { docs: { '/v1': process.env.DOCS } }),
  open: async () => ({
    createServer: (contracts, verifyToken, settings) =>
      createMultiServer<Record<string, object>>({
        ...settings,
        errors: Object.keys(contracts)[0] as string,
        contracts: Object.fromEntries(
          Object.entries(contracts).map(([prefix, contract]) => [
            prefix,
            {
              contract,
              handlers: handlersOf(prefix),
              verifiers: { token: bearer(verifyToken) },
              errorBody: ({ error }) => ({ contentType: 'application/json', body: { error, of: prefix } }),
            },
          ]),
        ),
      }),
  }),
})
