import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { pino } from 'pino'
import t from 'tap'
import { run } from '../../src/cli/init.ts'
import { enterDirectory } from '../support/enter-directory.ts'

const documentOf = (parameters: object[]) =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Orders', version: '1' },
    paths: {
      '/orders': { post: { operationId: 'createOrder', parameters, responses: { 204: { description: 'Created.' } } } },
    },
  })

const keyed = documentOf([{ name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string' } }])

type Printed = { args: unknown[] }[]

const textOf = (printed: Printed) => printed.flatMap(({ args }) => args).join('\n')

t.test('a new project has a store of idempotency keys only if the document declares the header', async (t) => {
  enterDirectory(t, { 'keyed.json': keyed, 'plain.json': documentOf([]) })
  t.capture(console, 'log')
  for (const name of ['keyed', 'plain']) await run(['--without', 'docs', `${name}.json`, name])
  const app = readFileSync('keyed/src/app.ts', 'utf8')
  t.match(app, /^import \{ memoryKeys \} from 'fastify-contract\/idempotency'$/m)
  t.match(
    app,
    /Several instances need a store .*\n.*\n {4}idempotency: \{ store: memoryKeys\(\) \},\n {4}\.\.\.options,/,
  )
  t.notMatch(readFileSync('plain/src/app.ts', 'utf8'), /idempotency/)
})

t.test('the project of such a document replays a response, and its log has no warning', async (t) => {
  enterDirectory(t, { 'keyed.json': keyed })
  t.capture(console, 'log')
  await run(['--without', 'docs', 'keyed.json', '.'])
  const load = async (path: string) => await import(pathToFileURL(resolve(path)).href)
  const { contract } = await load('generated/contract.mjs')
  const { createApp } = await load('src/app.ts')
  const warnings: unknown[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) })
  const app = createApp(() => undefined, { contract, log })
  t.teardown(() => app.close())
  const send = async () =>
    (await app.inject({ method: 'POST', url: '/orders', headers: { 'idempotency-key': 'k' } })).headers
  t.equal((await send())['idempotent-replayed'], undefined)
  t.equal((await send())['idempotent-replayed'], 'true')
  t.same(warnings, [])
})

for (const [title, document, hasKeys] of [
  ['has the store, too, and init says that it is in memory', keyed, true],
  ['has no store if no operation has keys', documentOf([]), false],
] as const)
  t.test(`a plugin for an application ${title}`, async (t) => {
    const manifest = JSON.stringify({ type: 'module', dependencies: { fastify: '^5.12.8' } })
    enterDirectory(t, { 'openapi.json': document, 'package.json': manifest, src: { 'app.js': '' } })
    const printed = t.capture(console, 'log')
    await run(['openapi.json', '--into', '.'])
    const plugin = readFileSync('src/contract/plugin.js', 'utf8')
    t.equal(/^ {4}idempotency: \{ store: memoryKeys\(\) \},$/m.test(plugin), hasKeys)
    t.equal(/^src\/contract\/plugin\.js keeps idempotency keys in memory\. /m.test(textOf(printed())), hasKeys)
  })
