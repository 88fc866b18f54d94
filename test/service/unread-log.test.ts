import { Agent } from 'node:http'
import { resolve } from 'node:path'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openLogOutput } from '../../packages/fastify-contract/src/service/log.ts'
import { freePort } from '../../scripts/system/free-port.ts'
import { until } from '../../scripts/system/poll.ts'
import { nodeCommand, spawnProcess } from '../support/child-process.ts'
import { httpRequest } from '../support/http-request.ts'
import { builtCode, sourceCode } from '../support/service-code.ts'
import { onTerminal, terminalSkipReason, unreadPipe } from '../support/terminal.ts'
import { authorization, token } from '../support/test-app.ts'

// The tests mostly wait, so they run concurrently.
t.jobs = 4

const told = /^plant-store: the log cannot be written: ([^\n]+)$/gm
const logWriter = nodeCommand(resolve('test/support/log-writer.ts'))
const unread = 'stdout is not being read; up to 16 MiB of lines are kept, and further ones are dropped'

type Where = { format: string; terminal?: 'apart' | 'there' }
type Place = Where & { skip?: string | false; end: string; command?: string[] }

/** Runs a module with a stdout that nothing reads: a terminal if `terminal` is given, else a pipe. */
function runUnread(t: Test, command: string[], { format, terminal }: Where, environment: Record<string, string> = {}) {
  const pipe = unreadPipe(t)
  const running = spawnProcess(terminal === undefined ? command : onTerminal(command, terminal), {
    env: { ...environment, LOG_FORMAT: format },
    stdio: ['ignore', pipe.end, 'pipe'],
  })
  const isApart = terminal !== undefined
  const pid = async () =>
    isApart ? Number((await running.find('stderr', /^pid (\d+)$/m))[1]) : Number(running.child.pid)
  const hasEnded = () => (isApart ? /^ended/m.test(running.output.stderr) : running.child.exitCode !== null)
  const ended = async () =>
    isApart ? (await running.find('stderr', /^ended (\d+)$/m))[1] : (await running.untilEnded()).signal
  const reasons = () => Array.from(running.output.stderr.matchAll(told), ([, why]) => why)
  t.teardown(async () => {
    if (isApart && !hasEnded()) process.kill(await pid(), 'SIGKILL')
    running.signal('SIGKILL')
  })
  return { ...running, ...pipe, pid, hasEnded, ended, reasons }
}

const places: Record<string, Place> = {
  'lines for people on a terminal': {
    format: 'pretty',
    terminal: 'apart',
    skip: terminalSkipReason,
    end: '1',
    command: sourceCode.command,
  },
  'lines of JSON on a terminal': {
    format: 'json',
    terminal: 'apart',
    skip: terminalSkipReason,
    end: '1',
  },
  'lines for people on the terminal of stderr': {
    format: 'pretty',
    terminal: 'there',
    skip: terminalSkipReason,
    end: '1',
  },
  // A thread of Node blocks on the pipe, so only SIGKILL ends the process.
  'lines for people in a pipe': { format: 'pretty', end: 'SIGKILL' },
  'lines of JSON in a pipe': { format: 'json', end: 'SIGKILL' },
}

for (const [name, { skip = false, end, command = builtCode.command, ...where }] of Object.entries(places)) {
  t.test(`unread ${name} delay neither requests nor the exit`, { skip, buffered: true }, async (t) => {
    const port = await freePort()
    const environment = { ACCESS_TOKENS: token, PORT: String(port), DRAIN_DEADLINE: '2000' }
    const { pid, reasons, ended } = runUnread(t, command, where, environment)
    const url = `http://127.0.0.1:${port}/plants`
    const answers = async () => (await httpRequest(url).catch(() => undefined)) !== undefined
    await until(answers, 'the service serves')
    const agent = new Agent({ keepAlive: true })
    t.teardown(() => agent.destroy())
    const headers = { authorization, 'content-type': 'application/json' }
    let id = 0
    const client = async () => {
      while (id < 1_500) {
        const { status } = await httpRequest(url, {
          method: 'POST',
          headers,
          body: `{"id":${id++},"name":"a"}`,
          agent,
        })
        if (status !== 200) t.equal(status, 200)
      }
    }
    await Promise.all(Array.from({ length: 8 }, client))
    if (where.terminal !== 'there') await until(() => reasons().length > 0, 'stderr has the reason')
    process.kill(await pid(), 'SIGTERM')
    t.equal(await ended(), end)
    t.same(reasons(), where.terminal === 'there' ? [] : [unread])
  })

  t.test(
    `unread ${name} beyond 16 MiB are reported, and the process still ends`,
    { skip, buffered: true },
    async (t) => {
      const { pid, find, read, reasons, hasEnded } = runUnread(t, logWriter, where)
      if (where.terminal === 'there') await sleep(5_000)
      else {
        await find('stderr', /^all are written$/m)
        await until(() => reasons().length > 0, 'stderr has the reason')
        t.same(reasons(), [unread])
      }
      process.kill(await pid(), 'SIGTERM')
      await until(() => read() === 0 && hasEnded(), 'the process ends once its stdout is read')
    },
  )
}

t.test('a closed terminal is reported once and does not end the process', { skip: terminalSkipReason }, async (t) => {
  const { pid, find, reasons, signal, ended } = runUnread(t, logWriter, { format: 'pretty', terminal: 'apart' })
  await find('stderr', /^all are written$/m)
  // script(1) holds the terminal.
  signal('SIGKILL')
  await until(() => reasons().length > 0, 'stderr has the reason')
  // The writer logs ten lines a second.
  await sleep(1_000)
  t.equal(reasons().length, 1)
  process.kill(await pid(), 'SIGKILL')
  t.equal(await ended(), '137')
})

t.test('a blocked terminal is reported once until it accepts all lines again', async (t) => {
  const waiting: (() => void)[] = []
  let problem: Error | null = null
  const stdout = new Writable({
    write: (_chunk, _encoding, done) => waiting.push(() => done(problem)),
    autoDestroy: false,
  })
  const stderr = t.capture(process.stderr, 'write', () => true)
  const texts = () => stderr().map(({ args: [text] }) => text)
  const { write, flush } = openLogOutput(
    'plant-store',
    Object.assign(stdout, { isTTY: true, _handle: { setBlocking() {} } }) as unknown as typeof process.stdout,
  )
  const takeAll = async () => {
    for (let done = waiting.shift(); done !== undefined; done = waiting.shift()) {
      done()
      await sleep(1)
    }
  }
  const megabyte = 'x'.repeat(2 ** 20)
  for (let line = 0; line < 20; line++) write(megabyte)
  t.equal(stdout.writableLength, 2 ** 24)
  t.same(texts(), [`plant-store: the log cannot be written: ${unread}\n`])
  const flushed = new Promise<unknown>((resolve) => flush(resolve))
  await takeAll()
  t.equal(await flushed, undefined)
  t.same(texts(), [], 'nothing more is reported')
  problem = new Error('EIO')
  write('a')
  await takeAll()
  t.same(texts(), ['plant-store: the log cannot be written: EIO\n'])
})
