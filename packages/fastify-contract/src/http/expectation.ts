import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'

const passedKey = Symbol('passed on with its expectation')

type Request = IncomingMessage & { [passedKey]?: true }

/** Makes Node.js pass on requests with an `Expect` header, instead of responding to them itself. */
export function disableNodeExpectHandling(app: FastifyInstance<Server>): void {
  const pass = (request: Request, response: ServerResponse) => {
    request[passedKey] = true
    app.server.emit('request', request, response)
  }
  app.server.on('checkContinue', pass).on('checkExpectation', pass)
}

/**
 * Returns whether the client of a request waits for 100 Continue. In a server that `createServer` did not create, Node.js
 * has sent it already, and an injected request has no client that waits.
 */
export const awaitsContinue = (request: Request): boolean => request[passedKey] === true
