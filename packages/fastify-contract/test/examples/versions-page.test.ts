import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { compileContract } from 'fastify-contract-cli/compile'
import { nodeCommand, runCommand } from 'fastify-contract-test-support/child-process'
import { diagnose } from 'fastify-contract-test-support/compiler'
import t from 'tap'
import { ownPath } from '../support/own-path.ts'

const page = readFileSync(ownPath('docs/versions.md'), 'utf8')
const files = Object.fromEntries(
  Array.from(page.matchAll(/^```\w+\n((?:\/\/|#) (\S+)\n.*?)^```$/gms), ([, code = '', name = '']) => [name, code]),
)
const modules = ['src/v1.ts', 'src/v2.ts', 'src/app.ts', 'src/server.ts']

t.test('the service of the page about versions compiles and serves both documents', async (t) => {
  const directory = resolve(t.testdir({ 'package.json': '{ "type": "module" }' }))
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), text)
  }
  for (const [name, text] of Object.entries(files)) write(name, text)
  t.same(Object.keys(files).sort(), ['v1.yaml', 'v2.yaml', ...modules].sort())
  for (const version of ['v1', 'v2']) {
    const path = join(directory, `${version}.yaml`)
    const generated = await compileContract(path, { rules: ownPath('test/examples/redocly.yaml') })
    for (const [name, text] of Object.entries(generated.files)) write(`generated/${version}/${name}`, text)
  }
  const compiled = (changed: Record<string, string> = {}) =>
    diagnose(
      modules.map((name) => join(directory, name)),
      Object.fromEntries(Object.entries(changed).map(([name, text]) => [join(directory, name), text])),
    )
  t.same(compiled(), [])
  const app = files['src/app.ts'] as string
  t.match(compiled({ 'src/app.ts': app.replace('handlers: v1.handlers', 'handlers: v2.handlers') }), [
    /app\.ts:15 TS2322 .*Property 'name' is missing/,
  ])
  t.match(compiled({ 'src/app.ts': app.replace("errors: '/v2'", "errors: '/v3'") }), [/app\.ts:18 TS2322 .*"\/v3"/])

  const service = runCommand(t, nodeCommand(join(directory, 'src/server.ts')), {}, directory)
  const [, url = '', token = ''] = await service.find(
    'stderr',
    /^pets \/v1 1\.4\.0, \/v2 2\.0\.0 on (\S+), operations: 2, .*generated token (\S+)\n.*\/v1\/pets\/.*\/v2\/pets\//s,
  )
  const get = async (path: string, authorization = `Bearer ${token}`) => {
    const response = await fetch(url + path, { headers: { authorization } })
    return [response.status, response.headers.get('content-type')?.replace(/;.*/, ''), await response.json()]
  }
  t.same(await get('/v1/pets/7'), [200, 'application/json', { id: 7, name: 'Tom' }])
  t.same(await get('/v2/pets/7'), [200, 'application/json', { id: 7, names: ['Tom', 'Thomas'] }])
  t.same(await get('/v1/none'), [404, 'application/json', { message: 'no such path' }])
  const problem = { status: 404, title: 'no such path' }
  for (const path of ['/v2/none', '/none']) t.same(await get(path), [404, 'application/problem+json', problem])
  t.match(await get('/v2/pets/7', ''), [401, 'application/problem+json', { status: 401 }])
  t.match(await service.stop(), { code: 0 })
})
