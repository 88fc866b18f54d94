import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import type { Test } from 'tap'
import { type AppOptions, createApp } from '../../src/app.ts'
import { tokenVerifier } from '../../src/auth/tokens.ts'
import { openMemory } from '../../src/store/memory.ts'
import { assertAnswer, contract } from './contract.ts'

export const token = 'a-token-of-the-tests-0123456789-abcdef'
export const authorization = `Bearer ${token}`

/** An app on a memory store, closed when the test ends, with the lines of its log. */
export async function createService(t: Test, options: Partial<AppOptions> = {}) {
  const log: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      log.push(String(chunk))
      done()
    },
  })
  const store = openMemory()
  const app = await createApp({
    routes: contract.routes,
    store,
    verifyToken: tokenVerifier([token]),
    shed() {},
    log: pino({ level: 'warn' }, stream),
    ...options,
    // All tests come from one address, and share the machine.
    limits: { authFailures: 0, eventLoopDelay: 60_000, ...options.limits },
  })
  t.teardown(() => app.close())

  /** Sends a create without a socket; the answer is checked against the contract. */
  const create = async (payload: string | object | Buffer, headers: Record<string, string | undefined> = {}) => {
    const answer = await app.inject({
      method: 'POST',
      url: '/plants',
      headers: Object.fromEntries(
        Object.entries({ authorization, 'content-type': 'application/json', ...headers }).filter(
          ([, value]) => value !== undefined,
        ),
      ),
      payload,
    })
    assertAnswer(t, {
      method: 'POST',
      path: '/plants',
      status: answer.statusCode,
      headers: answer.headers,
      body: answer.body,
    })
    return { status: answer.statusCode, headers: answer.headers, body: answer.json() }
  }

  /** Listens on a free port of the loopback address; gives the port. */
  const listen = async () => {
    await app.listen({ host: '127.0.0.1', port: 0 })
    return (app.server.address() as AddressInfo).port
  }
  return { app, store, log, create, listen }
}
