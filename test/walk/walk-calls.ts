import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { HttpResponse } from '../support/http-request.ts'
import { spawnService } from '../support/service-process.ts'

/** A request, and what must come back: the status, some headers, and the body where there is one. */
export type WalkCall = {
  /** Method and target. */
  request: string
  /** JSON, or text where it is a string. */
  send?: object | string
  headers?: (token: string) => Record<string, string>
  status: number
  /** JSON, or text where it is a string. */
  body?: object | string | undefined
  answer?: Record<string, string>
}

/**
 * Runs the built service of a project directory with a new store and makes calls with the token that the service makes,
 * which has every scope. Rejects when an answer is another.
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
