import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { spawnService } from '../support/service-process.ts'

/** A request, and what must come back: the status, and the body where there is one. */
export type WalkCall = {
  /** Method and target. */
  request: string
  send?: object
  headers?: Record<string, string>
  status: number
  body?: object | undefined
}

/** Runs the built service of a project directory with a new store and makes calls. Rejects when an answer is another. */
export async function callService(directory: string, storeUrl: string, calls: WalkCall[]): Promise<void> {
  rmSync(join(directory, 'data'), { recursive: true, force: true })
  const command = [process.execPath, join(directory, 'dist', 'server.js')]
  const service = await spawnService({ STORE_URL: storeUrl, LOG_LEVEL: 'warn' }, { command, cwd: directory }).serving()
  try {
    for (const { request, send, status, body, headers = {} } of calls) {
      const [method = '', target = ''] = request.split(' ')
      const sent = send === undefined ? {} : { body: JSON.stringify(send) }
      const answer = await service.call(method, target, { headers, ...sent })
      const found = { status: answer.status, body: answer.body === '' ? undefined : JSON.parse(answer.body) }
      const wanted = { status, body: body ?? (status >= 400 ? found.body : undefined) }
      assert.deepEqual(found, wanted, `${request} on ${storeUrl}: ${answer.status} ${answer.body}`)
    }
  } finally {
    await service.stop()
  }
}
