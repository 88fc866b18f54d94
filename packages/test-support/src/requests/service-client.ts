import assert from 'node:assert/strict'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { namedResponseOf } from '../response-validator.ts'
import type { Case, Request } from './cases.ts'

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

/** Statuses that a valid request with a token must never get. */
const refusals = [400, 401]

/** Throws unless a response has the error number or, without one, a listed status other than 400 and 401. */
export function checkStatus({ status, body }: Reply, error: Case['error'], { responses }: Case['endpoint']): void {
  const seen = `answered ${status} ${body}`
  const isListed = namedResponseOf(responses, status) !== undefined
  if (error === undefined) assert.ok(isListed && !refusals.includes(status), seen)
  else assert.ok(status === Math.trunc(error / 100) && JSON.parse(body).error === error, `${seen}, must be ${error}`)
}
