import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { defaults } from '../support/process.ts'
import { token } from '../support/service.ts'
import { createAt, storeWith } from '../support/workers.ts'

t.test('lines of several processes come whole through a pipe that is read too slowly', async (t) => {
  const STORE_URL = storeWith(t, "create: async () => 'created',")
  // What Node makes for a child process is a pair of sockets.
  const pipe = join(t.testdirName, 'pipe')
  execFileSync('mkfifo', [pipe])
  const read = readSlowly(openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK))
  const stdout = openSync(pipe, constants.O_WRONLY)
  const child = spawn(process.execPath, [...process.execArgv, 'src/server.ts'], {
    env: { ...process.env, ...defaults, ACCESS_TOKENS: token, WORKERS: '2', STORE_URL },
    stdio: ['ignore', stdout, 'pipe'],
  })
  closeSync(stdout)
  t.teardown(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  let url: string | undefined
  for await (const told of child.stderr?.setEncoding('utf8') ?? []) {
    url = / on (\S+), store /.exec(told)?.[1]
    if (url !== undefined) break
  }

  const sent = 3_000
  let id = 0
  const clients = Array.from({ length: 16 }, async () => {
    const agent = new Agent({ keepAlive: true })
    while (id < sent) await createAt(url as string, id++, 'a', agent)
    agent.destroy()
  })
  await Promise.all(clients)
  child.kill('SIGTERM')
  t.same(await ended, [0, null])
  const lines = (await read).split('\n').slice(0, -1)
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
