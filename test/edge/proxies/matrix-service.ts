import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AnyHandler, ContractError, createServer } from 'fastify-contract'
import { evaluateSchemaCode, schemaCode } from 'fastify-contract/schema'
import { compileRoutes, type Document } from 'fastify-contract-cli/testing'
import { freePort } from 'fastify-contract-test-support/free-port'
import type { Instance } from '../instance-pair.ts'

const json = { 'application/json': { schema: {} } }
const numbers = { schema: { type: 'integer' } }
const open = { security: [] }

const document = {
  openapi: '3.1.0',
  info: { title: 'Behind a proxy', version: '1' },
  paths: {
    '/echo': {
      get: { operationId: 'head', ...open, responses: { 200: { content: json } } },
      post: { operationId: 'echo', ...open, requestBody: { content: json }, responses: { 200: { content: json } } },
    },
    '/time': { get: { operationId: 'time', ...open, responses: { 200: { content: json } } } },
    '/closed': {
      post: {
        operationId: 'closed',
        security: [{ token: [] }],
        requestBody: { content: json },
        responses: { 200: { content: json } },
      },
    },
    '/text': {
      get: {
        operationId: 'text',
        'x-etag': 'body',
        ...open,
        responses: {
          200: { headers: { ETag: { schema: { type: 'string' } } }, content: json },
          304: { description: 'not modified' },
        },
      },
    },
    ...Object.fromEntries(
      ['lines', 'broken', 'killed'].map((operationId) => [
        `/${operationId}`,
        { get: { operationId, ...open, responses: { 200: { content: { 'application/jsonl': numbers } } } } },
      ]),
    ),
    '/events': {
      get: { operationId: 'events', ...open, responses: { 200: { content: { 'text/event-stream': numbers } } } },
    },
  },
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
} as unknown as Document

/** The largest body that an instance of the matrix accepts, and the time (ms) in which a request must arrive. */
export const matrixLimits = { body: 1_048_576, requestTime: 4_000 }

/** Milliseconds between two items of a stream, and their number. */
export const [pace, items] = [400, 4]

/** An instance of the engine, in this process, behind the proxies of the matrix. */
export type MatrixInstance = Instance & {
  /** The times (ms) at which the latest stream has given its items to the engine. */
  given: number[]
  /** Stops the instance, and starts it again on its ports. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Starts an instance. */
export async function startMatrixInstance(): Promise<MatrixInstance> {
  const [port, managementPort] = [await freePort(), await freePort()]
  const given: number[] = []
  let stop = await listen(port, managementPort, given)
  return {
    port,
    managementPort,
    given,
    async restart() {
      await stop()
      stop = await listen(port, managementPort, given)
    },
    stop: () => stop(),
  }
}

type Raw = { raw: IncomingMessage; ip: string }

async function* count(given: number[], limit = items) {
  given.length = 0
  for (let item = 1; item <= limit; item++) {
    given.push(performance.now())
    // No size of a chunk looks like an item.
    yield item * 111_111
    await sleep(pace)
  }
}

async function* failing(given: number[], end: () => void) {
  yield* count(given, 2)
  end()
  await sleep(pace)
  throw new Error('the stream breaks')
}

/** Ends a connection as the kernel does when the process of its server is killed. */
const endAsKernel = (socket: Socket) => socket.destroySoon()

function handlersOf(given: number[]): Record<string, AnyHandler> {
  const stream = (source: (request: Raw) => AsyncIterable<unknown>) => async (_input: unknown, request: Raw) => ({
    status: 200,
    body: source(request),
  })
  async function* events() {
    for await (const data of count(given)) yield { data }
  }
  const handlers = {
    head: async (_input: unknown, { raw, ip }: Raw) => ({ status: 200, body: { headers: { ...raw.headers }, ip } }),
    echo: async (_input: unknown, { raw }: Raw) => ({ status: 200, body: { trailers: { ...raw.trailers } } }),
    time: async () => ({ status: 200, body: { time: performance.now() } }),
    closed: async () => ({ status: 200, body: {} }),
    text: async () => ({ status: 200, body: { text: 'Monstera deliciosa '.repeat(300) } }),
    lines: stream(() => count(given)),
    broken: stream(() => failing(given, () => {})),
    killed: stream(({ raw }) => failing(given, () => endAsKernel(raw.socket))),
    events: stream(events),
  }
  return handlers as unknown as Record<string, AnyHandler>
}

/** Starts the two servers of an instance; resolves with a function that stops them. */
async function listen(port: number, managementPort: number, given: number[]): Promise<() => Promise<void>> {
  const routes = compileRoutes(document)
  const app = createServer({
    contract: { routes, schemaCode: evaluateSchemaCode(schemaCode(routes)) } as never,
    handlers: handlersOf(given),
    verifiers: {
      token: () => (_request: unknown, done: (error: Error) => void) =>
        done(new ContractError('invalidToken', 'unknown token')),
    } as never,
    errorBody: (({ error, message }: { error: number; message: string }) => ({
      contentType: 'application/json',
      body: { error, message },
    })) as never,
    trustProxy: ['127.0.0.1'],
    limits: { ...matrixLimits, authFailures: 0, eventLoopDelay: 60_000 },
  })
  await app.listen({ host: '127.0.0.1', port })
  const admin = createHttpServer((_request, response) => response.end('ready'))
  await once(admin.listen(managementPort, '127.0.0.1'), 'listening')
  return async () => {
    admin.close().closeAllConnections()
    await app.close()
  }
}

/** A server that closes the connection of one request that arrives on a connection that was used before. */
export type ClosingInstance = Instance & {
  /** Makes it close the next reused connection; returns whether that has happened since. */
  arm(): () => boolean
  stop(): void
}

/**
 * Starts two servers as a proxy sees instances that close idle connections just when it reuses them. They close one
 * connection together.
 */
export async function startClosingInstances(): Promise<[ClosingInstance, ClosingInstance]> {
  let armed = false
  const start = async (): Promise<ClosingInstance> => {
    const used = new WeakSet<Socket>()
    /** Returns whether the connection of a request closes now. */
    const closes = ({ socket }: IncomingMessage): boolean => {
      const isReused = armed && used.has(socket)
      if (isReused) {
        armed = false
        socket.destroySoon()
      }
      used.add(socket)
      return isReused
    }
    const server: Server = createHttpServer((request, response) => {
      if (!closes(request)) request.resume().on('end', () => response.end('done'))
    })
    // A connection that closes has no 100 Continue either.
    server.on('checkContinue', (request, response) => {
      if (closes(request)) return
      response.writeContinue()
      request.resume().on('end', () => response.end('done'))
    })
    server.keepAliveTimeout = 60_000
    const admin = createHttpServer((_request, response) => response.end('ready'))
    for (const one of [server, admin]) await once(one.listen(0, '127.0.0.1'), 'listening')
    return {
      port: (server.address() as AddressInfo).port,
      managementPort: (admin.address() as AddressInfo).port,
      arm() {
        armed = true
        return () => !armed
      },
      stop() {
        for (const one of [server, admin]) one.close().closeAllConnections()
      },
    }
  }
  return [await start(), await start()]
}
