import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from 'fastify-contract-test-support/child-process'
import { freePort } from 'fastify-contract-test-support/free-port'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'

/** A service that counts its starts in a file, and ends, after SIGINT, once its requests have responses. */
const service = (version: number) => `import { appendFileSync, existsSync } from 'node:fs'
import { createServer } from 'node:http'

appendFileSync('starts.txt', \`\${process.env.TRIED ?? ''}${version}\\n\`)
const server = createServer(async (request, response) => {
  if (request.url === '/slow') {
    appendFileSync('slow.txt', '')
    while (!existsSync('released.txt')) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  if (request.url === '/exit') process.exit(3)
  response.end('${version}')
})
server.listen(process.env.PORT, '127.0.0.1')
const admin = createServer((_, response) => response.end()).listen(process.env.MANAGEMENT_PORT, '127.0.0.1')
process.on('SIGINT', () => {
  server.close()
  admin.close()
  admin.closeAllConnections()
})
`

const document = { openapi: '3.1.0', info: { title: 'a', version: '1.0.0' }, paths: {} }

/** A compiler that finds an error in the second version of the service, but not before a file is there. */
const waitingCompiler = `const { existsSync, readFileSync } = require('node:fs')
if (readFileSync('src/server.ts', 'utf8').includes("end('2')")) {
  while (!existsSync('served.txt')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  console.log("src/server.ts(1,1): error TS2322: Type 'a' is not assignable to type 'b'.")
  process.exit(2)
}
`

/** A project without errors whose package.json has no settings, unless they are given. */
type Project = { compiler?: string; settings?: object; files?: Record<string, { [name: string]: string }> }

/** Starts `dev` in a project. */
async function startDev(t: Test, { compiler = '', settings, files = {} }: Project = {}, ...args: string[]) {
  const directory = t.testdir({
    ...files,
    'package.json': JSON.stringify({ type: 'module', 'fastify-contract': settings }),
    'openapi.json': JSON.stringify(document),
    src: { 'server.ts': service(1) },
    fixes: {},
    node_modules: {
      typescript: { 'package.json': JSON.stringify({ bin: { tsc: './tsc.cjs' } }), 'tsc.cjs': compiler },
    },
  })
  const port = await freePort()
  const environment = { PORT: String(port), MANAGEMENT_PORT: String(await freePort()) }
  const dev = run(t, join(import.meta.dirname, '../../src/cli.ts'), environment, ['dev', ...args], directory)
  const ask = async (path: string) =>
    await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } }).then((one) => one.text())
  return {
    stop: dev.stop,
    output: dev.output,
    ask,
    save: (version: number) => writeFileSync(join(directory, 'src/server.ts'), service(version)),
    /** Writes the same document with another indentation. */
    saveDocument: (spaces: number) =>
      writeFileSync(join(directory, 'openapi.json'), JSON.stringify(document, null, spaces)),
    /** Writes an overlay that describes the document. */
    saveOverlay(description: string) {
      const actions = [{ target: '$.info', update: { description } }]
      const overlay = { overlay: '1.1.0', info: { title: 'a', version: '1' }, actions }
      writeFileSync(join(directory, 'fixes', 'overlay.json'), JSON.stringify(overlay))
    },
    write: (name: string, text = '') => writeFileSync(join(directory, name), text),
    exists: (name: string) => existsSync(join(directory, name)),
    starts: () => readFileSync(join(directory, 'starts.txt'), 'utf8'),
    async shows(version: number) {
      await until(
        async () => (await ask('/').catch(() => '')) === String(version),
        () => `version ${version} in ${dev.output.stderr}`,
        180_000,
      )
    },
  }
}

t.test('a new service answers while the old one finishes its requests', async (t) => {
  const { stop, ask, save, write, exists, starts, shows } = await startDev(t)
  await shows(1)
  const slow = ask('/slow')
  await until(() => exists('slow.txt'), 'the slow request to arrive')
  save(2)
  await shows(2)
  write('released.txt')
  t.equal(await slow, '1')
  t.equal(starts(), '1\n2\n', 'each service starts once')
  t.match(await stop('SIGINT'), { code: 0 })
})

t.test('with an environment for a start on trial, the new service starts after the old one', async (t) => {
  const { stop, save, starts, shows } = await startDev(t, {}, '--trial', 'TRIED=tried ')
  await shows(1)
  save(2)
  await shows(2)
  t.equal(starts(), '1\ntried 2\n2\n')
  t.match(await stop('SIGINT'), { code: 0 })
})

t.test('a new service answers before its types are checked, and the messages of the compiler follow', async (t) => {
  const { stop, output, save, write, shows } = await startDev(t, { compiler: waitingCompiler })
  await shows(1)
  save(2)
  await shows(2)
  t.notMatch(output.stderr, /TS2322/)
  write('served.txt')
  const complaint = /error.* TS2322: .*\n(.*\n)*dev: the new service runs; correct the types above\n/
  await until(
    () => complaint.test(output.stderr),
    () => output.stderr,
    180_000,
  )
  await shows(2)
  save(3)
  await shows(3)
  t.match(await stop('SIGINT'), { code: 0 })
})

t.test('a save that changes no generated file starts no service', async (t) => {
  const { stop, saveDocument, save, starts, shows, output } = await startDev(t)
  await shows(1)
  saveDocument(2)
  await until(
    () => /the document changes nothing/.test(output.stdout),
    () => output.stdout,
    180_000,
  )
  save(2)
  await shows(2)
  t.equal(starts(), '1\n2\n')
  t.match(await stop('SIGINT'), { code: 0 })
})

t.test('a new service starts after a change of an overlay', async (t) => {
  const { stop, starts, shows, output, saveOverlay } = await startDev(t, {}, '--overlays', 'fixes/overlay.json')
  await until(() => /overlay\.json does not exist/.test(output.stderr), 'the message about the overlay', 180_000)
  saveOverlay('first')
  await shows(1)
  saveOverlay('second')
  await until(
    () => starts() === '1\n1\n',
    () => output.stderr,
    180_000,
  )
  t.match(await stop('SIGINT'), { code: 0 })
})

t.test('a new service starts after a change of each of several documents', async (t) => {
  const of = (title: string) => JSON.stringify({ ...document, info: { title, version: '1.0.0' } })
  const settings = { documents: { v1: { document: 'first/v1.json' }, v2: { document: 'second/v2.json' } } }
  const files = { first: { 'v1.json': of('a') }, second: { 'v2.json': of('a') } }
  const { stop, starts, shows, output, exists, write } = await startDev(t, { settings, files })
  await shows(1)
  t.ok(exists('generated/v1/contract.mjs') && exists('generated/v2/contract.mjs'))
  const startsAre = async (expected: string) =>
    await until(
      () => starts() === expected,
      () => output.stderr,
      180_000,
    )
  write('second/v2.json', of('b'))
  await startsAre('1\n1\n')
  write('first/v1.json', '{')
  await until(
    () => /^v1: first\/v1\.json:1:/m.test(output.stderr),
    () => output.stderr,
    180_000,
  )
  write('first/v1.json', of('b'))
  await startsAre('1\n1\n1\n')
  t.match(await stop('SIGINT'), { code: 0 })
})

t.test('after the service has ended, a save that changes no generated file starts it again', async (t) => {
  const { stop, ask, saveDocument, starts, shows, output } = await startDev(t)
  await shows(1)
  await ask('/exit').catch(() => '')
  await until(
    () => /dev: the service has ended with .*\n(.*\n)*dev: no service is running/.test(output.stderr),
    () => output.stderr,
    180_000,
  )
  saveDocument(2)
  await shows(1)
  t.equal(starts(), '1\n1\n')
  t.match(await stop('SIGINT'), { code: 0 })
})
