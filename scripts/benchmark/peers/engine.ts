// The engine with the document of the benchmark, which the plant store does not have. The benchmark bundles this file
// with the options of dist/server.js, and generates the files of DOCUMENT's directory.
import { readFileSync } from 'node:fs'
import Fastify from 'fastify'
import { bearer } from '../../../packages/fastify-contract/src/auth/bearer.ts'
import { listVerifier } from '../../../packages/fastify-contract/src/auth/tokens.ts'
import { serverOptions } from '../../../packages/fastify-contract/src/http/server-options.ts'
import { registerOperations } from '../../../packages/fastify-contract/src/serve/register-operations.ts'
import { exactList, host, list, type Plant, paths, port, store } from './work.ts'

const routes = JSON.parse(readFileSync(String(process.env.DOCUMENT).replace('openapi.json', 'routes.json'), 'utf8'))
const app = Fastify({ ...serverOptions, bodyLimit: 262_144 })

const create = async ({ body }: { body: Plant }) => {
  const { name, tag } = body
  if (store(body)) return { status: 200, body: tag === undefined ? { name } : { name, tag } }
  return { status: 409, body: { error: 40_900, message: 'the id belongs to another plant' } }
}

const lists = { listPlants: list.map((plant) => ({ ...plant, id: BigInt(plant.id) })), listExactPlants: exactList }

registerOperations(app, {
  routes,
  handlers: {
    ...Object.fromEntries(paths.map((_, n) => [`create${n}`, create])),
    countBatch: async ({ body }: { body: Plant[] }) => ({ status: 200, body: { count: body.length } }),
    ...Object.fromEntries(Object.entries(lists).map(([id, body]) => [id, async () => ({ status: 200, body })])),
  } as never,
  verifiers: { bearer: bearer(listVerifier([String(process.env.ACCESS_TOKENS)])) },
  errorBody: ({ error, message }: { error: number; message: string }) => ({
    contentType: 'application/json',
    body: { error, message },
  }),
})
await app.listen({ host, port })
