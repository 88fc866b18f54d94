import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { within } from '../../scripts/system/poll.ts'
import { startService } from '../support/service-process.ts'
import { storeWith } from '../support/worker-service.ts'

t.test('log lines of several processes stay whole in a slow pipe', async (t) => {
  const STORE_URL = storeWith(t, "create: async () => 'created',")
  // What Node makes for a child process is a pair of sockets.
  const pipe = join(t.testdirName, 'pipe')
  execFileSync('mkfifo', [pipe])
  const read = readSlowly(openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK))
  const stdout = openSync(pipe, constants.O_WRONLY)
  const environment = { WORKERS: '2', STORE_URL }
  const { create, stop } = await startService(t, environment, { stdio: ['ignore', stdout, 'pipe'] })
  closeSync(stdout)

  const sent = 3_000
  let id = 0
  const clients = Array.from({ length: 16 }, async () => {
    const agent = new Agent({ keepAlive: true })
    while (id < sent) await create(JSON.stringify({ id: id++, name: 'a' }), {}, agent)
    agent.destroy()
  })
  await Promise.all(clients)
  t.hasStrict(await stop(), { code: 0, signal: null })
  const lines = (await within(read, 'the end of the log')).split('\n').slice(0, -1)
  const requests = lines.filter((line) => JSON.parse(line).msg === 'request')
  t.equal(requests.length, sent)
})

/** Reads a few lines at a time, so that the pipe is full most of the time. Gives all that came. */
async function readSlowly(pipe: number): Promise<string> {
  const buffer = Buffer.alloc(3_000)
  let text = ''
  let length: number | undefined
  while (length !== 0) {
    await sleep(10)
    try {
      length = readSync(pipe, buffer)
      text += buffer.toString('latin1', 0, length)
    } catch {
      // There is nothing now.
    }
  }
  closeSync(pipe)
  return text
}
