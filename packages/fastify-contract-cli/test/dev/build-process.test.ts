import { fork } from 'node:child_process'
import { on } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from 'fastify-contract-test-support/poll'
import t from 'tap'
import type { BuildMessage, BuildReply, DevOptions } from '../../src/dev/reloader.ts'

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
  const options: DevOptions = {
    documents: [
      {
        prefix: '',
        document: 'openapi.json',
        overlays: [],
        errors: undefined,
        handlers: 'src/handlers.ts',
        skipUnsupported: false,
        out: 'generated',
        docs: 'dist/docs',
        released: 'openapi/released',
        client: './client.ts',
      },
    ],
    rules: undefined,
    docs: 'dist/docs',
    entry: 'src/server.ts',
    watch: undefined,
    bundle: undefined,
    trial: undefined,
  }
  const module = join(import.meta.dirname, '../../src/dev/build-process.ts')
  const builder = fork(module, [JSON.stringify(options)], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  t.teardown(() => builder.kill())
  const send = (message: BuildMessage) => builder.send(message)
  const replies = on(builder, 'message') as AsyncIterator<[BuildReply]>
  const reply = async () => (await replies.next()).value[0]
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
