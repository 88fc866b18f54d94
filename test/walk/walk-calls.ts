import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { HttpResponse } from 'fastify-contract-test-support/http-request'
import { spawnService } from '../support/service-process.ts'

/** A request and the expected response: status, some headers, and the body, if any. */
export type WalkCall = {
  /** Method and target. */
  request: string
  /** Request body: a string as it is, else JSON. */
  send?: object | string
  headers?: (token: string) => Record<string, string>
  status: number
  /** Expected body: a string as text, else JSON. */
  body?: object | string | undefined
  answer?: Record<string, string>
}

/**
 * Runs the built service of a project directory on a new store and makes calls with its generated token, which has
 * every scope. Rejects when a response differs from the expected one.
 */
export async function callService(directory: string, storeUrl: string, calls: WalkCall[]): Promise<void> {
  rmSync(join(directory, 'data'), { recursive: true, force: true })
  const command = [process.execPath, join(directory, 'dist', 'server.js')]
  const environment = { STORE_URL: storeUrl, LOG_LEVEL: 'warn', ACCESS_TOKENS: '' }
  const service = await spawnService(environment, { command, cwd: directory }).serving()
  try {
    const token = await service.generatedToken()
    for (const { request, send, status, body, answer = {}, headers = bearer } of calls) {
      const [method = '', target = ''] = request.split(' ')
      const sent = send === undefined ? {} : { body: typeof send === 'string' ? send : JSON.stringify(send) }
      const got = await service.call(method, target, { headers: headers(token), ...sent })
      const wanted = { status, body: body ?? (status >= 400 ? bodyOf(got) : undefined), ...answer }
      const found = { status: got.status, body: bodyOf(got), ...picked(got.headers, Object.keys(answer)) }
      assert.deepEqual(found, wanted, `${request} on ${storeUrl}: ${got.status} ${got.body}`)
    }
  } finally {
    await service.stop()
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

function bodyOf({ headers, body }: HttpResponse): unknown {
  if (body === '') return undefined
  return headers['content-type']?.includes('json') ? JSON.parse(body) : body
}

const picked = (headers: HttpResponse['headers'], names: string[]) =>
  Object.fromEntries(names.map((name) => [name, headers[name]]))
