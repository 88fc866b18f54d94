// The engine with the document of the benchmark, which the plant store does not have. The benchmark bundles this file
// with the options of dist/server.js, and generates the files in the directory of DOCUMENT.
import { pathToFileURL } from 'node:url'
import { bearer, createServer, listVerifier } from 'fastify-contract'
import { exactList, host, list, type Plant, paths, port, store } from './work.ts'

const { contract } = await import(new URL('contract.mjs', pathToFileURL(String(process.env.DOCUMENT))).href)

const create = async ({ body }: { body: Plant }) => {
  const { name, tag } = body
  if (store(body)) return { status: 200, body: tag === undefined ? { name } : { name, tag } }
  return { status: 409, body: { error: 40_900, message: 'the id belongs to another plant' } }
}

const lists = { listPlants: list.map((plant) => ({ ...plant, id: BigInt(plant.id) })), listExactPlants: exactList }

// The types of the operations are unknown here, because the document is made by the benchmark.
const app = createServer<never>({
  contract,
  handlers: {
    ...Object.fromEntries(paths.map((_, n) => [`create${n}`, create])),
    countBatch: async ({ body }: { body: Plant[] }) => ({ status: 200, body: { count: body.length } }),
    ...Object.fromEntries(Object.entries(lists).map(([id, body]) => [id, async () => ({ status: 200, body })])),
  } as never,
  verifiers: { bearer: bearer(listVerifier([String(process.env.ACCESS_TOKENS)])) },
  errorBody: (({ error, message }: { error: number; message: string }) => ({
    contentType: 'application/json',
    body: { error, message },
  })) as never,
})
await app.listen({ host, port })
