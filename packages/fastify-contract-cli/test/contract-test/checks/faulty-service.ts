import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { documentOf } from '../test-application.ts'

const json = (schema: object, more: object = {}) => ({
  description: 'ok',
  content: { 'application/json': { schema } },
  ...more,
})
const problem = json({ type: 'object', required: ['message'], properties: { message: { type: 'string' } } })
const rejections = { 400: problem, 401: problem, 403: problem, 404: problem }
const count = { type: 'integer', format: 'int32', minimum: 0, maximum: 100 }
const thing = {
  type: 'object',
  required: ['id', 'name', 'count'],
  properties: {
    id: { type: 'integer', minimum: 1, maximum: 1_000_000, readOnly: true },
    name: { type: 'string', minLength: 1, maxLength: 20, pattern: '^[a-z]+$' },
    count,
    secret: { type: 'string', maxLength: 20, writeOnly: true },
  },
}
const body = { required: true, content: { 'application/json': { schema: thing } } }
const numbered = (name: string) => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'integer', minimum: 1, maximum: 1_000_000 },
})
const order = { type: 'object', required: ['number'], properties: { number: { type: 'integer' } } }
const bill = { operationId: 'getBill', parameters: { bill: '$response.body#/number' } }

/** A document with what each check needs: a resource with a life cycle, a link, credentials with a scope, and marks. */
export const faultyDocument = {
  ...documentOf(
    {
      '/things': {
        get: {
          operationId: 'listThings',
          parameters: [{ name: 'size', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 10 } }],
          responses: {
            200: json(
              { type: 'array', items: thing },
              { headers: { 'X-Total': { required: true, schema: { type: 'integer' } } } },
            ),
            ...rejections,
          },
        },
        post: { operationId: 'createThing', requestBody: body, responses: { 201: json(thing), ...rejections } },
      },
      '/things/{thingId}': {
        parameters: [numbered('thingId')],
        get: { operationId: 'readThing', responses: { 200: json(thing), ...rejections } },
        put: { operationId: 'replaceThing', requestBody: body, responses: { 200: json(thing), ...rejections } },
        delete: { operationId: 'removeThing', responses: { 204: { description: 'gone' }, ...rejections } },
      },
      '/orders': {
        post: { operationId: 'createOrder', responses: { 201: json(order, { links: { bill } }), ...rejections } },
      },
      '/bills/{bill}': {
        parameters: [numbered('bill')],
        get: { operationId: 'getBill', responses: { 200: json(order), ...rejections } },
      },
    },
    { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  ),
  security: [{ bearer: ['things'] }],
}

export const credentials = { bearer: { accepted: 'right', narrow: 'narrow' } }

export type Thing = { id: number; name: string; count: number; secret?: string }

/** What a fault changes beside the responses. */
export type Store = {
  /** The only thing in the list. */
  listed: Thing
  things: Map<number, Thing>
  bills: Set<number>
  create(thing: Thing): void
  replace(thing: Thing, id: number): void
  remove(id: number): void
  /** Returns what a response shows of a thing. */
  shown(thing: Thing): object
  /** Returns whether a request needs no credentials. */
  isOpen(request: FastifyRequest): boolean
  /** Called for a rejected request. */
  reject(request: FastifyRequest): void
  /** Returns the id that a new thing gets. */
  idOf(sent: Partial<Thing>, next: number): number
  /** Returns the id that a changed thing has. */
  keptId(sent: Partial<Thing>, id: number): number
}

export type Fault = (app: FastifyInstance, store: Store) => unknown

/** Runs before the handler of a route, such as `GET /things/:thingId`. What it returns or sends is the response. */
export function before(
  app: FastifyInstance,
  route: string,
  run: (request: FastifyRequest, reply: FastifyReply) => unknown,
): void {
  app.addHook('preHandler', async function runFault(request, reply) {
    if (`${request.method} ${request.routeOptions.url}` !== route) return undefined
    const given = await run(request, reply)
    return given === undefined || reply.sent ? given : reply.send(given)
  })
}

/** Returns an application that does what the document says, except for a fault. */
export function faultyService(fault: Fault = () => {}): FastifyInstance {
  const things = new Map<number, Thing>()
  const bills = new Set<number>()
  const store: Store = {
    listed: { id: 1, name: 'first', count: 1 },
    things,
    bills,
    create: (one) => void things.set(one.id, one),
    replace: (one, id) => void things.set(id, one),
    remove: (id) => void things.delete(id),
    shown: ({ id, name, count }) => ({ id, name, count }),
    isOpen: () => false,
    reject: () => {},
    idOf: (_, next) => next,
    keptId: (_, id) => id,
  }
  const app = Fastify({
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, strict: false } },
    forceCloseConnections: true,
  })
  app.setErrorHandler(function sendProblem(error: Error & { statusCode?: number }, request, reply) {
    store.reject(request)
    return reply.code(error.statusCode ?? 500).send({ message: error.message })
  })
  app.addHook('onRequest', async function authenticate(request, reply) {
    const { authorization } = request.headers
    if (authorization === 'Bearer right' || store.isOpen(request)) return undefined
    const status = authorization === 'Bearer narrow' ? 403 : 401
    if (status === 401) reply.header('www-authenticate', 'Bearer')
    return reply.code(status).send({ message: 'credentials' })
  })
  fault(app, store)
  const { required, properties } = thing
  const schema = { body: { ...thing, required: required.filter((name) => name !== 'id'), properties } }
  const idOf = (text: unknown) => (/^[1-9]\d{0,5}$|^1000000$/.test(String(text)) ? Number(text) : undefined)
  const fail = (reply: FastifyReply, status: number) => reply.code(status).send({ message: 'id' })
  /** Calls `use` with the thing of a path, if there is one. */
  const found = ({ params }: FastifyRequest, reply: FastifyReply, use: (one: Thing, id: number) => unknown) => {
    const id = idOf((params as { thingId: string }).thingId)
    const one = id === undefined ? undefined : things.get(id)
    return one === undefined || id === undefined ? fail(reply, id === undefined ? 400 : 404) : use(one, id)
  }
  let next = 100

  app.get('/things', function list({ query }, reply) {
    const { size } = query as { size?: string }
    if (size !== undefined && !/^([1-9]|10)$/.test(size)) return fail(reply, 400)
    return reply.header('x-total', 1).send([store.shown(store.listed)])
  })
  app.post('/things', { schema }, function create({ body }, reply) {
    const sent = body as Thing
    const one = { ...sent, id: store.idOf(sent, next++) }
    store.create(one)
    return reply.code(201).send(store.shown({ ...sent, id: one.id }))
  })
  app.get('/things/:thingId', (request, reply) => found(request, reply, (one) => store.shown(one)))
  app.put('/things/:thingId', { schema }, (request, reply) =>
    found(request, reply, function replace(_, id) {
      const sent = request.body as Thing
      const one = { ...sent, id: store.keptId(sent, id) }
      store.replace(one, id)
      return store.shown(one)
    }),
  )
  app.delete('/things/:thingId', (request, reply) =>
    found(request, reply, function remove(_, id) {
      store.remove(id)
      return reply.code(204).send()
    }),
  )
  app.post('/orders', function order(_, reply) {
    bills.add(next)
    return reply.code(201).send({ number: next++ })
  })
  app.get('/bills/:bill', function read({ params }, reply) {
    const number = idOf((params as { bill: string }).bill)
    if (number === undefined || !bills.has(number)) return fail(reply, number === undefined ? 400 : 404)
    return { number }
  })
  return app
}
