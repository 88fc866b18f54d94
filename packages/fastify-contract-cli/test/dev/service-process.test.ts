import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from 'fastify-contract-test-support/poll'
import t from 'tap'
import { isUsable, prepareProcess, startService } from '../../src/dev/service-process.ts'

/** A service that responds with what it knows of its process. */
const service = `import { fork } from 'node:child_process'
import { createServer } from 'node:http'
import { Worker } from 'node:worker_threads'
import { loadedBefore } from 'installed'

if (process.argv[2] === 'child') process.exit(7)
const child = fork(process.argv[1], ['child'])
const code = await new Promise((resolve) => child.once('exit', resolve))
const worker = new Worker('0', { eval: true })
const workerCode = await new Promise((resolve) => worker.once('exit', resolve))
const { OWN, DEV_PACKAGES } = process.env
const known = {
  code,
  workerCode,
  loadedBefore: loadedBefore < globalThis.started,
  isMain: globalThis.main === process.argv[1],
  send: typeof process.send,
  execArgv: process.execArgv.filter((option) => option.includes('await-start')),
  OWN,
  DEV_PACKAGES,
}
console.error('about to listen')
const server = createServer((_, response) => {
  console.error('later')
  response.end(JSON.stringify(known))
})
server.listen(process.env.PORT, '127.0.0.1')
createServer((_, response) => response.end()).listen(process.env.MANAGEMENT_PORT, '127.0.0.1')
process.on('SIGINT', () => process.exit())
`

const place = { host: '127.0.0.1', port: 0 }
const places = { place, adminPlace: place, origins: '' }

process.chdir(
  t.testdir({
    'package.json': '{ "type": "module" }',
    node_modules: {
      installed: {
        'package.json': '{ "type": "module", "exports": "./index.js" }',
        'index.js': 'export const loadedBefore = performance.now()\nconsole.error("the package is loaded")\n',
      },
    },
  }),
)
t.teardown(() => process.chdir('/'))

function writeSnapshot(directory: string, text: string): void {
  mkdirSync(join(directory, 'dist'), { recursive: true })
  writeFileSync(join(directory, 'dist', 'server.js'), text)
}

t.test(
  'a process loads the packages of a service before its module exists, and then runs it as its main module',
  async (t) => {
    const waiting = prepareProcess('snapshots/1', 'src/server.ts', ['installed', 'missing'], false)
    t.ok(isUsable(waiting, 'snapshots/1', ['installed', 'missing']))
    t.notOk(isUsable(waiting, 'snapshots/2', ['installed', 'missing']), 'another snapshot')
    t.notOk(isUsable(waiting, 'snapshots/1', ['installed']), 'other packages')
    // A static import would run before the time is taken.
    writeSnapshot(
      'snapshots/1',
      `globalThis.started = performance.now()
globalThis.main = import.meta.filename
await import('./service.js')
`,
    )
    writeFileSync('snapshots/1/dist/service.js', service)
    const lines: string[] = []
    const onStderr = (line: string) => lines.push(line)
    const started = await startService(waiting, { ...places, environment: { OWN: 'value' }, onStderr })
    t.same(await (await fetch(started.url)).json(), {
      code: 7,
      workerCode: 0,
      loadedBefore: true,
      isMain: true,
      send: 'undefined',
      execArgv: [],
      OWN: 'value',
    })
    await until(
      () => lines.includes('later'),
      () => lines.join(),
    )
    // The child process loads the package, too.
    const loaded = 'the package is loaded'
    t.same([...started.written, ...lines], [loaded, loaded, 'about to listen', 'later'])
    t.notOk(isUsable(waiting, 'snapshots/1', ['installed', 'missing']), 'it runs')
    await started.stop()
    t.equal(await started.ended, 'exit code 0')
  },
)

t.test('a process that waits is not used after an installation', async (t) => {
  const waiting = prepareProcess('snapshots/2', 'src/server.ts', ['installed'], false)
  t.teardown(() => waiting.child.kill())
  t.ok(isUsable(waiting, 'snapshots/2', ['installed']))
  writeFileSync('node_modules/.package-lock.json', '{}')
  t.notOk(isUsable(waiting, 'snapshots/2', ['installed']))
  t.ok(readdirSync('snapshots').includes('packages.mjs'))
})

t.test('a service that does not start is reported with its output', async (t) => {
  const start = (name: string, text: string, more = {}) => {
    const directory = join('snapshots', name)
    writeSnapshot(directory, text)
    return startService(prepareProcess(directory, 'src/server.ts', [], true), { ...places, ...more })
  }
  await t.rejects(start('fails', "console.error('no store')\nprocess.exit(1)\n"), { message: 'no store' })
  await t.rejects(start('ends', ''), { message: 'the service ended without a message' })
  const unready = `import { createServer } from 'node:http'
createServer().listen(process.env.PORT, '127.0.0.1')
createServer((_, response) => response.writeHead(503).end('later')).listen(process.env.MANAGEMENT_PORT, '127.0.0.1')
`
  await t.rejects(start('unready', unready), { message: 'the service is not ready: later' })
  await t.rejects(start('cancelled', 'setInterval(() => {}, 1000)\n', { signal: AbortSignal.abort() }), {
    message: 'the service ended without a message',
  })
  const cancel = new AbortController()
  const cancelled = start('cancelled', 'setInterval(() => {}, 1000)\n', { signal: cancel.signal })
  cancel.abort()
  await t.rejects(cancelled, { message: 'the service ended without a message' })
})
