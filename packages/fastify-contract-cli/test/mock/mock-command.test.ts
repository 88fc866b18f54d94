import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { run } from 'fastify-contract-test-support/child-process'
import t, { type Test } from 'tap'
import { ownPath } from '../support/own-path.ts'

const error = {
  required: ['message', 'shard'],
  properties: { message: { type: 'string' }, shard: { type: 'integer' } },
}
const content = (schema: object) => ({ 'application/json': { schema } })
const document = {
  openapi: '3.1.0',
  info: { title: 'Shards', version: '2' },
  paths: {
    '/shards': {
      get: {
        operationId: 'getShards',
        parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer' } }],
        responses: {
          200: { description: 'd', content: content({ type: 'array', items: { const: 'a' }, minItems: 1 }) },
          default: { description: 'e', content: content(error) },
        },
      },
      head: { operationId: 'refused', responses: { 100: { description: 'No.' } } },
    },
  },
}

const start = (t: Test, cwd: string, args: string[]) =>
  run(t, resolve(ownPath('src/cli.ts')), {}, ['mock', ...args], cwd)

/** Runs `fastify-contract mock` in a directory, and returns its URL and its warnings. */
async function mock(t: Test, cwd: string, args: string[]) {
  const { find, output } = start(t, cwd, args)
  const [, url = ''] = await find('stdout', /^mock of Shards 2 on (\S+); it accepts any token\n/)
  return { url, warnings: output.stderr }
}

t.test('the mock runs from a document without a project, and describes errors as the document does', async (t) => {
  const directory = t.testdir({ 'shards.json': JSON.stringify(document) })
  const { url, warnings } = await mock(t, directory, ['shards.json'])
  t.match(warnings, /^shards\.json: HEAD \/shards responds with 501: #\/paths\/~1shards\/head/)
  const get = async (target: string, method = 'GET') => {
    const response = await fetch(url + target, { method })
    return [response.status, response.headers.get('content-type'), await response.text()]
  }
  t.same(await get('/shards'), [200, 'application/json; charset=utf-8', '["a"]'])
  t.same(await get('/shards?limit=a'), [
    400,
    'application/json; charset=utf-8',
    '{"message":"query/limit must be integer","shard":0}',
  ])
  t.match(await get('/none'), [404, /^application\/json/, '{"message":"no such path","shard":0}'])
  t.match(await get('/shards', 'HEAD'), [501])
})

t.test('an error of the mock has every digit of an example', async (t) => {
  const digits = '9007199254740993'
  const text = JSON.stringify(document).replace(
    '"shard":{"type":"integer"}',
    `"shard":{"type":"integer","format":"int64","example":${digits}}`,
  )
  const { url } = await mock(t, t.testdir({ 'shards.json': text }), ['shards.json'])
  const response = await fetch(`${url}/none`)
  t.equal(await response.text(), `{"message":"no such path","shard":${digits}}`)
})

t.test('the mock responds to QUERY, for which its document is of OpenAPI 3.2', async (t) => {
  const query = {
    operationId: 'queryShards',
    requestBody: { required: true, content: content({ type: 'object', required: ['name'] }) },
    responses: document.paths['/shards'].get.responses,
  }
  const queried = { ...document, openapi: '3.2.0', paths: { '/shards': { query } } }
  const { url } = await mock(t, t.testdir({ 'shards.json': JSON.stringify(queried) }), ['shards.json'])
  async function send(method: string, body?: object) {
    const init = {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    }
    const response = await fetch(`${url}/shards`, init)
    return [response.status, response.headers.get('accept-query'), response.headers.get('allow'), await response.text()]
  }
  const accepted = '"application/json"'
  t.same(await send('QUERY', { name: 'a' }), [200, accepted, null, '["a"]'])
  t.match(await send('QUERY', {}), [400, accepted, null, /must have required property 'name'/])
  t.match(await send('GET'), [405, accepted, 'QUERY', /./])
  t.match(await send('OPTIONS'), [405, accepted, 'QUERY', /./])
})

t.test('the mock finds the document of its directory, and uses src/error-body.ts if there is one', async (t) => {
  const directory = t.testdir({
    'openapi.yaml': JSON.stringify(document),
    src: { 'error-body.ts': "export const errorBody = () => ({ contentType: 'text/plain', body: 'own' })\n" },
  })
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  const { url } = await mock(t, directory, [])
  t.equal(await (await fetch(`${url}/none`)).text(), 'own')
})

t.test('a default src/error-body.ts that cannot be loaded does not keep the mock from running', async (t) => {
  const directory = t.testdir({
    'shards.json': JSON.stringify(document),
    src: { 'error-body.ts': "import './none.ts'\n" },
  })
  const { url, warnings } = await mock(t, directory, ['shards.json'])
  t.match(warnings, /^mock: src\/error-body\.ts is not used: /m)
  t.match(await (await fetch(`${url}/none`)).json(), { message: 'no such path' })
  const { code, stderr } = await start(t, directory, ['shards.json', '--errors', 'src/none.ts']).ended
  t.equal(code, 1)
  t.match(stderr, /^mock: .*none\.ts/m)
})

t.test('the mock names an invalid port in one line', async (t) => {
  const directory = t.testdir({ 'shards.json': JSON.stringify(document) })
  const args = ['mock', 'shards.json']
  for (const PORT of ['abc', '65536'])
    t.match(await run(t, resolve(ownPath('src/cli.ts')), { PORT }, args, directory).ended, {
      code: 1,
      stderr: `mock: PORT is "${PORT}"; expected an integer from 0 to 65535\n`,
    })
})

t.test('the mock names what it lacks', async (t) => {
  const ended = (...args: string[]) => start(t, t.testdir({}), args).ended
  t.match(await ended(), {
    code: 1,
    stderr: /^mock: there is neither openapi\.yaml nor one openapi\/\*\.yaml; name the document/,
  })
  t.match(await ended('none.yaml'), { code: 1, stderr: /^mock: none\.yaml does not exist; name an OpenAPI document/ })
})
