import type { FastifyInstance } from 'fastify'
import { listVerifier } from 'fastify-contract'
import { createApp } from '../../src/app.ts'
import { openMemory } from '../../src/store/memory.ts'
import { plantedFault } from './faults.ts'
import { type DocumentChange, faultyContract } from './faulty-contract.ts'
import { serveFaulty } from './serve-faulty.ts'

/** The plant store, with the fault that the variable FAULT names. */
const fault = plantedFault('plants')

const changes: Record<string, DocumentChange> = {
  'missing-id-accepted': ({ components }) => delete components.schemas.NewPlant.allOf[1].required,
  'open-operation': (document) => {
    document.security = [{}]
  },
}

const plugins: Record<string, (app: FastifyInstance) => void> = {
  'empty-name-error': (app) =>
    app.addHook('preHandler', async ({ body }) => {
      if ((body as { name?: unknown } | undefined)?.name === '') throw new Error('an empty name')
    }),
  'no-challenge': (app) =>
    app.addHook('onSend', async (_request, reply) => {
      reply.removeHeader('www-authenticate')
    }),
  'crash-on-cut-body': (app) =>
    app.addHook('onRequest', async ({ raw }) => {
      raw.once('close', function crash() {
        if (!raw.complete) process.exit(1)
      })
    }),
}

const memory = openMemory()
const contract = faultyContract('openapi/plant-store.yaml', changes[fault])
// A plant without its required id gets one that no other plant has, as a server would choose it.
let nextId = -4_611_686_018_427_387_904n
const store: typeof memory = { ...memory, create: (plant) => memory.create({ ...plant, id: plant.id ?? nextId++ }) }
const app = createApp({
  contract,
  store,
  verifyToken: listVerifier([process.env.TOKEN as string], []),
  shed() {},
  limits: { authFailures: 0, eventLoopDelay: 60_000 },
})
plugins[fault]?.(app)
await serveFaulty(app)
