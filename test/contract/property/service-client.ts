import assert from 'node:assert/strict'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { assertContractResponse } from '../../support/contract.ts'
import { type Assertions, namedResponseOf } from 'fastify-contract-test-support/response-validator'
import type { Case, Request } from 'fastify-contract-test-support/requests/cases'
import type { SendAndCheck } from 'fastify-contract-test-support/requests/run-cases'

export type Reply = { status: number; headers: IncomingMessage['headers']; body: string }

/** A client of a service on the loopback address that keeps its connections alive. */
export type Client = { send(method: string, request: Request): Promise<Reply>; close(): void }

export function connect(port: number, authorization: string): Client {
  const agent = new Agent({ keepAlive: true })
  const send = (method: string, { path, headers, body }: Request): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const all = { authorization, 'content-length': Buffer.byteLength(body ?? ''), ...headers }
      request({ agent, port, host: '127.0.0.1', method, path, headers: all }, (answer) => {
        const { statusCode: status = 0, headers } = answer
        text(answer).then((body) => resolve({ status, headers, body }), reject)
      })
        .on('error', reject)
        .end(body)
    })
  return { send, close: () => agent.destroy() }
}

/** Assertions that throw: fast-check tries a smaller request only if the property rejects. */
const strictly: Assertions = {
  ok: (value, ...message) => assert.ok(value, ...message),
  equal: assert.equal,
  same: assert.deepEqual,
  type: (value, type) => assert.equal(typeof value, type),
  match: (value, pattern) => assert.match(String(value), pattern),
}

/** Statuses that a valid request with a token must never get. */
const refusals = [400, 401]

/** Returns a function that sends a request to the service and checks the response against the contract. */
export const checkedRequest =
  ({ send }: Client): SendAndCheck =>
  async ({ endpoint, error }, sent) => {
    const { method } = endpoint
    const reply = await send(method, sent)
    checkStatus(reply, error, endpoint)
    assertContractResponse(strictly, { ...reply, method, path: sent.path })
  }

/** Throws unless a response has the error number or, without one, a listed status other than 400 and 401. */
export function checkStatus({ status, body }: Reply, error: Case['error'], { responses }: Case['endpoint']): void {
  const seen = `answered ${status} ${body}`
  const isListed = namedResponseOf(responses, status) !== undefined
  if (error === undefined) assert.ok(isListed && !refusals.includes(status), seen)
  else assert.ok(status === Math.trunc(error / 100) && JSON.parse(body).error === error, `${seen}, must be ${error}`)
}
