import { existsSync, openSync } from 'node:fs'
import { Agent } from 'node:http'
import { resolve } from 'node:path'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { nodeCommand, spawnProcess } from 'fastify-contract-test-support/child-process'
import { freePort } from 'fastify-contract-test-support/free-port'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { openLogOutput } from '../../packages/fastify-contract/src/service/log.ts'
import { builtCode, coveredCode, forSourceAndBundle } from '../support/service-code.ts'
import { type ServiceOptions, startService } from '../support/service-process.ts'
import { fillPipe, onTerminal, terminalSkipReason, unreadPipe } from '../support/terminal.ts'
import { authorization, token } from '../support/test-app.ts'

/** Starts a service; `end` stops it and resolves with its log. */
async function start(t: Test, environment: Record<string, string> = {}, options: ServiceOptions = {}) {
  const service = await startService(t, environment, options)
  const create = async (id: number, headers: Record<string, string> = {}) =>
    (await service.create(JSON.stringify({ id, name: `plant ${id}` }), headers)).headers['x-request-id']
  const end = async () => {
    const { code, stdout } = await service.stop()
    t.equal(code, 0)
    return stdout
  }
  return { create, end, url: service.url }
}

/** Parses a log, without the lines about listening. */
const lines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => !msg.startsWith('Server listening'))

t.test('each request gets one JSON line whose level reflects its outcome', async (t) => {
  const { create, end, url } = await start(t, {}, coveredCode)
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  await create(1, { 'x-request-id': 'mine', traceparent })
  const made = await create(1, { authorization: 'Bearer wrong' })
  await httpRequest(`${url}/secret-path`)
  const seen = lines(await end()).map(({ time, duration_ms, ...line }) => {
    t.ok(Math.abs(Number(time) - Date.now()) < 60_000)
    t.ok(Number(duration_ms) > 0 && Number(duration_ms) < 30_000)
    return line
  })
  const { request_id: id, ...unknown } = seen[2] ?? {}
  t.match(id, /^[\w.-]{1,128}$/)
  t.strictSame(
    [...seen.slice(0, 2), unknown],
    [
      {
        level: 'info',
        request_id: 'mine',
        trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
        parent_id: '00f067aa0ba902b7',
        client: 'access-token-1',
        address: '127.0.0.1',
        method: 'POST',
        operation: 'createPlant',
        status: 200,
        msg: 'request',
      },
      {
        level: 'warn',
        request_id: made,
        address: '127.0.0.1',
        method: 'POST',
        operation: 'createPlant',
        status: 401,
        error: 40101,
        msg: 'request',
      },
      { level: 'warn', address: '127.0.0.1', method: 'GET', status: 404, error: 40400, msg: 'request' },
    ],
  )
  t.equal(seen.length, 3)
})

t.test('request lines can be switched off or limited to rejections', async (t) => {
  for (const [environment, statuses] of [
    [{ ACCESS_LOG: 'off' }, []],
    [{ LOG_LEVEL: 'warn' }, [401]],
  ] as const) {
    const { create, end } = await start(t, environment, coveredCode)
    await create(1)
    await create(1, { authorization: 'Bearer wrong' })
    t.same(
      lines(await end()).map(({ status }) => status),
      statuses,
    )
  }
})

t.test('a failure is logged with its cause and nothing else of the thrown value', async (t) => {
  const directory = t.testdir({
    'store.mjs': `
      const causes = {
        1: () => Object.assign(new Error('broken', { cause: new TypeError('below') }), { code: 'E1', detail: 'canary' }),
        2: () => 'no error at all',
        3: () => Object.assign(new Error('away'), { retryAfter: 1 }),
      }
      import { anyStore } from '${import.meta.resolve('../support/any-store.js')}'
      export const open = async () => anyStore({ create: async ({ id }) => { throw causes[id]() } })`,
  })
  const { create, end } = await start(t, { STORE_URL: `module:${directory}/store.mjs` }, coveredCode)
  const ids = [await create(1), await create(2), await create(3)]
  const text = await end()
  t.notMatch(text, /canary/)
  const seen = lines(text)
  t.equal(seen.length, 6)
  t.match(seen, [
    {
      level: /^error$/,
      msg: /^request failed$/,
      request_id: ids[0],
      err: {
        type: /^Error$/,
        code: /^E1$/,
        message: /^broken$/,
        stack: /^Error: broken\n/,
        cause: { type: /^TypeError$/, message: /^below$/ },
      },
    },
    { level: /^error$/, msg: /^request$/, request_id: ids[0], status: 500, error: 50000 },
    {
      level: /^error$/,
      msg: /^request failed$/,
      request_id: ids[1],
      err: { cause: { type: /^string$/, message: /^no error at all$/ } },
    },
    { level: /^error$/, msg: /^request$/, request_id: ids[1], status: 500, error: 50000 },
    { level: /^warn$/, msg: /^request rejected$/, request_id: ids[2], err: { message: /^away$/ } },
    { level: /^warn$/, msg: /^request$/, request_id: ids[2], status: 503, error: 50300 },
  ])
})

forSourceAndBundle(t, (t, code) => {
  t.test('the pretty format prints readable lines', async (t) => {
    const { create, end } = await start(t, { LOG_FORMAT: 'pretty' }, code)
    await create(1)
    const text = await end()
    t.match(text, /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: request \{.*"client":"access-token-1".*\}$/m)
    t.equal(text.split('\n').filter((line) => line !== '' && !line.includes('Server listening')).length, 1)
  })
})

const full = '/dev/full'
const exitingWriter = nodeCommand(resolve('test/support/exiting-log-writer.ts'))

t.test('a line logged just before the process exits is written', async (t) => {
  for (const format of ['json', 'pretty']) {
    const { untilEnded } = spawnProcess(exitingWriter, { env: { LOG_FORMAT: format } })
    t.match(await untilEnded(), { code: 0, stdout: /the last line.*\n$/, stderr: /^$/ })
  }
})

t.test('a failure to write the last lines is reported', { skip: !existsSync(full) }, async (t) => {
  const stdio = ['ignore', openSync(full, 'w'), 'pipe'] as const
  const { untilEnded } = spawnProcess(exitingWriter, { env: { LOG_FORMAT: 'json' }, stdio: [...stdio] })
  t.match(await untilEnded(), { code: 0, stderr: /^plant-store: the log cannot be written: ENOSPC[^\n]*\n$/ })
})

t.test('a pipe that is full and not read does not delay the exit', { skip: !existsSync(full) }, async (t) => {
  for (const lines of ['1', '1000']) {
    const { end } = unreadPipe(t)
    fillPipe(end)
    const env = { LOG_FORMAT: 'json', LINES: lines }
    const { untilEnded } = spawnProcess(exitingWriter, { env, stdio: ['ignore', end, 'pipe'] })
    t.match(await untilEnded(), { code: 0, stderr: /^plant-store: the log cannot be written: EAGAIN[^\n]*\n$/ })
  }
})

t.test('an unwritable log does not end the service', { skip: !existsSync(full) }, async (t) => {
  const stdio = ['ignore', openSync(full, 'w'), 'pipe'] as const
  const options = { stdio: [...stdio], command: coveredCode.command }
  const { create, find, stop, banner } = await startService(t, {}, options)
  for (let sent = 0; sent < 3; sent++) t.equal((await create('', { authorization: '' })).status, 401)
  await find('stderr', /the log cannot be written/)
  // The lines are written again each 100 ms, which fails each time.
  await sleep(1_000)
  const { code, signal, stderr } = await stop()
  t.same([code, signal], [0, null])
  t.match(stderr.replace(banner, ''), /^plant-store: the log cannot be written: ENOSPC[^\n]*\n$/, 'it is reported once')
})

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
    command: coveredCode.command,
  },
  'lines of JSON on a terminal': { format: 'json', terminal: 'apart', skip: terminalSkipReason, end: '1' },
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
      while (id < 600) {
        const { status } = await httpRequest(url, { method: 'POST', headers, body: `{"id":${id++},"name":"a"}`, agent })
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
