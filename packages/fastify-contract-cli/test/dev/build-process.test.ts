import { fork } from 'node:child_process'
import { on } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import type { BuildMessage, BuildReply, DevDocument, DevOptions } from '../../src/dev/reloader.ts'

/** Returns options with some documents. */
const optionsOf = (
  ...documents: (Pick<DevDocument, 'document' | 'out' | 'docs'> & Partial<DevDocument>)[]
): DevOptions => ({
  documents: documents.map((document) => ({
    prefix: '',
    overlays: [],
    errors: undefined,
    handlers: 'src/handlers.ts',
    skipUnsupported: false,
    released: 'openapi/released',
    client: './client.ts',
    ...document,
  })),
  rules: undefined,
  docs: 'dist/docs',
  entry: 'src/server.ts',
  watch: undefined,
  bundle: undefined,
  trial: undefined,
})

/** Starts the build process in a directory. `reply` resolves with its next reply. */
function startBuilder(t: Test, cwd: string, options: DevOptions) {
  const module = join(import.meta.dirname, '../../src/dev/build-process.ts')
  const builder = fork(module, [JSON.stringify(options)], { cwd, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  t.teardown(() => builder.kill())
  const replies = on(builder, 'message') as AsyncIterator<[BuildReply]>
  return {
    send: (message: BuildMessage) => builder.send(message),
    reply: async () => (await replies.next()).value[0],
  }
}

t.test("the build process checks types with the project's tsc and bundles with esbuild", async (t) => {
  const directory = t.testdir({
    'openapi.json': JSON.stringify({ openapi: '3.1.0', info: { title: 'a', version: '1.0.0' }, paths: {} }),
    src: {
      'server.ts': `import { name } from './name.ts'
import { contract } from '../generated/contract.mjs'
import 'node:fs'
import 'installed'
import '@own/installed/part'
import 'linked'
import 'missing'
console.log(name, contract)
`,
      'name.ts': "export const name = 'own'\n",
    },
    linked: { 'package.json': '{}' },
    node_modules: {
      installed: { 'package.json': '{}' },
      '@own': { installed: { 'package.json': '{}' } },
      linked: t.fixture('symlink', '../linked'),
      typescript: {
        'package.json': JSON.stringify({ bin: { tsc: './tsc.cjs' } }),
        'tsc.cjs': `const { writeFileSync } = require('node:fs')
writeFileSync('checked.json', JSON.stringify(process.argv.slice(2)))`,
      },
    },
  })
  const options = optionsOf({ document: 'openapi.json', out: 'generated', docs: 'dist/docs' })
  const { send, reply } = startBuilder(t, directory, options)
  const request = {
    snapshot: 1,
    directory: 'dist/dev/1',
    hasNewDocument: true,
    isServed: false,
    url: 'http://127.0.0.1',
    token: 'none',
  }
  send(request)
  t.same(await reply(), { snapshot: 1, bundle: { scopes: '', packages: ['installed', '@own/installed/part'] } })
  t.same(await reply(), { snapshot: 1, messages: '' })
  const [, configuration = ''] = JSON.parse(readFileSync(join(directory, 'checked.json'), 'utf8'))
  t.match(JSON.parse(readFileSync(join(directory, configuration), 'utf8')), {
    compilerOptions: { noEmit: true },
    files: [join(directory, 'src/server.ts')],
  })
  t.match(readFileSync(join(directory, 'dist/dev/1/dist/server.js'), 'utf8'), 'console.log(name, contract)')
  t.equal(
    readFileSync(join(directory, 'dist/dev/1/dist/contract.mjs'), 'utf8'),
    readFileSync(join(directory, 'generated/contract.mjs'), 'utf8'),
  )
  t.ok(existsSync(join(directory, 'generated/contract.mjs')))
  send({ ...request, snapshot: 2, isServed: true })
  t.same(await reply(), { snapshot: 2, bundle: 'unchanged' }, 'a save that changes no generated file')
  t.same(await reply(), { snapshot: 2, messages: '' })
  writeFileSync(join(directory, 'src/server.ts'), "import './none.ts'\n")
  send({ ...request, snapshot: 3, directory: 'dist/dev/2', hasNewDocument: false })
  t.match(await reply(), { snapshot: 3, bundle: { error: /Could not resolve "\.\/none\.ts"/ } })
  t.same(await reply(), { snapshot: 3, messages: '' })
  send('write docs')
  const pages = () => readdirSync(join(directory, 'dist/docs')).sort().join()
  await until(() => pages() === 'history.html,index.html,openapi.json,try.html', pages)
})

/** Returns a document with an operation that needs a scope. */
const documentOf = (name: string, servers: { url: string }[] = []) =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: name, version: '1.0.0' },
    servers,
    paths: {
      '/pets': {
        get: { operationId: 'getPets', responses: { 204: { description: 'Done.' } }, security: [{ key: [name] }] },
      },
    },
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  })

t.test('the build process generates and bundles several documents, and writes the pages of each', async (t) => {
  const directory = t.testdir({
    'v1.json': documentOf('first', [{ url: 'https://pets.example/v1' }]),
    'v2.json': documentOf('second'),
    src: {
      'server.ts': `import { contract as v1 } from '../generated/v1/contract.mjs'
import { contract as v2 } from '../generated/v2/contract.mjs'
console.log(v1, v2)
`,
    },
    node_modules: { typescript: { 'package.json': JSON.stringify({ bin: { tsc: './tsc.cjs' } }), 'tsc.cjs': '' } },
  })
  const versions = ['v1', 'v2'].map((name) => ({
    name,
    prefix: `/${name}`,
    document: `${name}.json`,
    out: join('generated', name),
    docs: join('dist', 'docs', name),
  }))
  const { send, reply } = startBuilder(t, directory, optionsOf(...versions))
  const request = {
    snapshot: 1,
    directory: 'dist/dev/1',
    hasNewDocument: true,
    isServed: false,
    url: 'http://127.0.0.1:3000',
    token: 'none',
  }
  send(request)
  t.match(await reply(), {
    bundle: {
      scopes: 'first second',
      example: /'?http:\/\/127\.0\.0\.1:3000\/v1\/pets[\s\S]*\n[\s\S]*http:\/\/127\.0\.0\.1:3000\/v2\/pets/,
    },
  })
  await reply()
  for (const name of ['v1', 'v2'])
    t.equal(
      readFileSync(join(directory, 'dist/dev/1/dist', name, 'contract.mjs'), 'utf8'),
      readFileSync(join(directory, 'generated', name, 'contract.mjs'), 'utf8'),
    )
  send('write docs')
  const pages = () => (existsSync(join(directory, 'dist/docs/index.html')) ? 'written' : '')
  await until(() => pages() !== '', 'the pages')
  const page = (name: string) => readFileSync(join(directory, 'dist/docs', name), 'utf8')
  t.match(
    page('index.html'),
    /<a href="\.\/v1\/index\.html">first 1\.0\.0<\/a>[\s\S]*<a href="\.\/v2\/index\.html">second 1\.0\.0<\/a>/,
  )
  t.match(page('v1/try.html'), 'connect-src http://127.0.0.1:3000;')
  t.match(page('v2/try.html'), 'connect-src http://127.0.0.1:3000/v2/;')
  t.match(page('v2/try.html'), 'data-service="http://127.0.0.1:3000/v2"')
  for (const name of ['v1', 'v2']) writeFileSync(join(directory, `${name}.json`), '{')
  send({ ...request, snapshot: 2 })
  t.match(await reply(), { bundle: { error: /^v1: v1\.json:1:[\s\S]*^v2: v2\.json:1:/m } }, 'each document is named')
})
