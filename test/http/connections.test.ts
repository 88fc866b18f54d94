import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import t, { type Test } from 'tap'
import { until, within } from '../../scripts/system/poll.ts'
import type { AppOptions } from '../../src/app.ts'
import { openSocket, untilRefused } from '../support/open-socket.ts'
import { request } from '../support/raw-http.ts'
import { createTestApp } from '../support/test-app.ts'

/** A time in milliseconds that is longer than any test. */
const long = 600_000

/** Starts a service. `open` waits until a connection is accepted; `close`, until new connections are refused. */
async function start(t: Test, options: Partial<AppOptions> = {}) {
  const { app, listen } = await createTestApp(t, options)
  const port = await listen()
  let accepted = 0
  app.server.on('connection', () => accepted++)
  const open = async (bytes?: Buffer) => {
    const before = accepted
    const opened = await openSocket(t, port, bytes)
    await until(() => accepted > before, 'the connection is accepted')
    return opened
  }
  const close = async () => {
    const closed = app.close()
    await untilRefused(port)
    return { closed: () => within(closed, 'the close of the app') }
  }
  return { app, port, open, close }
}

const served = /^HTTP\/1\.1 200 .*\r\nconnection: close\r\n.*\}$/is

t.test('requests on connections that were idle when the listener closed are served', async (t) => {
  const { open, close } = await start(t, { keepAliveGrace: long })
  const silent = await open()
  const answered = await open(request())
  const first = await answered.receives(/\}$/)
  t.match(first, /\r\nconnection: keep-alive\r\n/i)
  const { closed } = await close()
  silent.socket.write(request())
  t.match(await silent.closed(), served, 'on a connection without a byte so far')
  answered.socket.write(request())
  t.match((await answered.closed()).slice(first.length), served, 'on a connection after an answer')
  await closed()
})

t.test('connections that stay idle are closed after the grace period', async (t) => {
  const { open, close } = await start(t, { keepAliveGrace: 50 })
  const silent = await open()
  const answered = await open(request())
  const first = await answered.receives(/\}$/)
  const { closed } = await close()
  await closed()
  t.equal(await silent.closed(), '')
  t.equal(await answered.closed(), first)
})

t.test('a request that has begun when the listener closes is served, whenever it ends', async (t) => {
  const { open, close } = await start(t)
  const silent = await open()
  const [begun, body] = [await open(request().subarray(0, 30)), await open(request().subarray(0, -3))]
  const { closed } = await close()
  await silent.closed()
  begun.socket.write(request().subarray(30))
  t.match(await begun.closed(), served)
  body.socket.write(request().subarray(-3))
  t.match(await body.closed(), served)
  await closed()
})

t.test('the request timeout still applies after the listener closed', async (t) => {
  const { open, close } = await start(t, { limits: { headersTime: 1_000 } })
  const begun = await open(request().subarray(0, 30))
  const { closed } = await close()
  t.match(await begun.closed(), /^HTTP\/1\.1 408 /)
  await closed()
})

t.test('connections that wait to be accepted when the close begins are served', async (t) => {
  const { app, port } = await start(t)
  const connections = 20
  const flag = `${t.testdir()}/connected`
  const clients = spawn(process.execPath, ['-e', clientsOf(port, connections, flag)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { REQUEST: request().toString('latin1') },
  })
  t.teardown(() => clients.kill('SIGKILL'))
  let answers = ''
  clients.stdout.setEncoding('latin1').on('data', (text: string) => {
    answers += text
  })
  await once(clients, 'spawn')
  // This loop blocks the event loop: the kernel completes the connections, but the service does not accept them.
  const limit = performance.now() + 30_000
  while (!existsSync(flag) && performance.now() < limit);
  const closed = app.close()
  await within(once(clients, 'close'), 'the end of the clients')
  t.same(answers.split('\n').filter(Boolean), Array(connections).fill('HTTP/1.1 200 OK'))
  await within(closed, 'the close of the app')
})

/** Returns a program that sends one request per connection, then creates `flag`, then prints the status lines. */
const clientsOf = (port: number, connections: number, flag: string) => `
  const { connect } = require('node:net')
  let connected = 0
  for (let i = 0; i < ${connections}; i++) {
    let answer = ''
    const socket = connect(${port}, '127.0.0.1', () => {
      socket.write(Buffer.from(process.env.REQUEST, 'latin1'), () => {
        if (++connected === ${connections}) require('node:fs').writeFileSync('${flag}', '')
      })
    })
    socket.on('data', (chunk) => { answer += chunk })
    socket.on('error', (error) => { answer = error.code })
    socket.on('close', () => console.log(answer.split('\\r\\n')[0]))
  }`
