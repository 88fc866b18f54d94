import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'

import type { InjectOptions } from 'fastify'
import { pino } from 'pino'
import type { Test } from 'tap'
import { listVerifier } from '../../packages/fastify-contract/src/auth/tokens.ts'
import { requiredScopes } from '../../packages/fastify-contract/src/routes/security.ts'
import { type AppOptions, createApp } from '../../src/app.ts'
import { openMemory } from '../../src/store/memory.ts'
import { assertContractResponse, contract } from './contract.ts'

export const token = 'a-token-of-the-tests-0123456789-abcdef'
export const authorization = `Bearer ${token}`

type Method = NonNullable<InjectOptions['method']>
type Sent = { headers?: Record<string, string | undefined>; body?: string | object | Buffer }

/** Creates an app on a memory store, with the lines of its log; closes it when the test ends. */
export async function createTestApp(t: Test, options: Partial<AppOptions> = {}) {
  const log: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      log.push(String(chunk))
      done()
    },
  })
  const store = openMemory()
  const app = createApp({
    contract,
    store,
    verifyToken: listVerifier([token], requiredScopes(contract.routes.operations)),
    shed() {},
    log: pino({ level: 'warn' }, stream),
    ...options,
    // All tests share one address and one machine.
    limits: { authFailures: 0, eventLoopDelay: 60_000, ...options.limits },
  })
  t.teardown(() => app.close())

  /**
   * Sends a request without a socket, with the tests' token and, if any, a JSON body, and checks the response against
   * the contract. A header that is undefined is not sent; `text` is the unparsed body, with exact integers.
   */
  const call = async (method: Method, target: string, { headers = {}, body }: Sent = {}) => {
    const all = { authorization, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers }
    const answer = await app.inject({
      method,
      url: target,
      headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
      ...(body !== undefined && { payload: body }),
    })
    const { statusCode: status, headers: answered, body: text } = answer
    assertContractResponse(t, { method, path: target, status, headers: answered, body: text })
    return { status, headers: answered, body: text === '' ? undefined : JSON.parse(text), text }
  }
  /** Sends a write; see `call`. */
  const create = (body: NonNullable<Sent['body']>, headers: NonNullable<Sent['headers']> = {}) =>
    call('POST', '/plants', { body, headers })

  /** Listens on a free loopback port; resolves with the port. */
  const listen = async () => {
    await app.listen({ host: '127.0.0.1', port: 0 })
    return (app.server.address() as AddressInfo).port
  }
  return { app, store, log, call, create, listen }
}
