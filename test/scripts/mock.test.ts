import { createServer } from 'node:net'
import t from 'tap'
import {
  type Document,
  type Endpoint,
  endpoints,
} from '../../packages/fastify-contract/src/compile/document/openapi-document.ts'
import { exampleOf, exampleResponse } from '../../packages/fastify-contract/src/compile/emit/examples.ts'
import { preferredResponse } from '../../packages/fastify-contract/src/mock/mock-server.ts'
import { run } from '../support/child-process.ts'
import { assertContractResponse } from '../support/contract.ts'

t.test('the mock answers with examples and rejects what the service rejects', async (t) => {
  const mock = run(t, 'packages/fastify-contract/src/cli.ts', {}, ['mock', '--realm', 'plant-store'])
  const [, url] = await mock.find('stdout', /^mock of .* on (\S+); it accepts any token\n/)
  const post = async (body: string, headers: Record<string, string> = { authorization: 'Bearer any' }) => {
    const answer = await fetch(`${url}/plants`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })
    const text = await answer.text()
    assertContractResponse(t, {
      method: 'POST',
      path: '/plants',
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: text,
    })
    return [answer.status, JSON.parse(text).error ?? JSON.parse(text)]
  }
  t.match(await post('{"id":1,"name":"a"}'), [200, { name: /.+/ }])
  t.same(await post('{"id":1}'), [400, 40003])
  t.same(await post('{"id":'), [400, 40002])
  t.same(await post('{"id":1,"name":"a"}', {}), [401, 40100])

  const prefer = async (preference: string) => {
    const headers = { authorization: 'Bearer any', 'content-type': 'application/json', prefer: preference }
    const body = '{"id":1,"name":"a"}'
    const answer = await fetch(`${url}/plants`, { method: 'POST', headers, body })
    return [
      answer.status,
      ((await answer.json()) as { error?: number }).error,
      answer.headers.get('preference-applied'),
    ]
  }
  t.same(await prefer('code=409'), [409, 40900, 'code=409'])
  t.match(await prefer('respond-async, Code = "503"; a=b, code=400'), [503, Number, 'code=503'])
  t.same(await prefer('code=700, example=none'), [200, undefined, null], 'the mock ignores an unknown preference')
  const challenged = await fetch(`${url}/plants`, {
    method: 'POST',
    headers: { authorization: 'Bearer any', 'content-type': 'application/json', prefer: 'code=401' },
    body: '{"id":1,"name":"a"}',
  })
  t.match(challenged.headers.get('www-authenticate'), /^Bearer /, 'with the headers of the document')
  mock.child.kill()
})

t.test('a port in use is reported', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await new Promise((resolve) => taken.once('listening', resolve))
  const PORT = String((taken.address() as { port: number }).port)
  t.match(await run(t, 'packages/fastify-contract/src/cli.ts', { PORT }, ['mock']).ended, {
    code: 1,
    stderr: /^mock: listen EADDRINUSE/,
  })
})

t.test('an example comes from the document or from the examples of its parts', async (t) => {
  const schemas = {
    Name: { type: 'string', examples: ['Monstera'] },
    Plant: { type: 'object', properties: { name: { $ref: '#/components/schemas/Name' }, tag: { type: 'string' } } },
    Shelf: { type: 'object', properties: { size: { example: 1 }, next: { $ref: '#/components/schemas/Shelf' } } },
    Tree: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
    New: { allOf: [{ $ref: '#/components/schemas/Plant' }, { properties: { id: { type: 'integer', example: 7 } } }] },
  }
  const document = { openapi: '3.1.0', info: { title: '', version: '' }, components: { schemas } } as Document
  const cases: [object | boolean, unknown][] = [
    [{ $ref: '#/components/schemas/New' }, { name: 'Monstera', tag: '', id: 7 }],
    [{ $ref: '#/components/schemas/Name', default: 'x' }, 'Monstera'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, ['a']],
    [{ type: 'array' }, []],
    [{ $ref: '#/components/schemas/Shelf' }, { size: 1 }],
    [{ $ref: '#/components/schemas/Tree' }, []],
    [{ type: ['integer', 'null'] }, 0],
    [{ const: [1] }, [1]],
    [{ oneOf: [{ type: 'string', default: 'd' }, { type: 'null' }] }, 'd'],
    [{ type: 'object', example: { a: 1 } }, { a: 1 }],
    [{}, {}],
  ]
  for (const [schema, example] of cases) t.same(exampleOf(document, schema as never), example)
})

t.test(
  'Prefer selects a response of the operation by status, range or default, and by the name of an example',
  async (t) => {
    const examples = { first: { value: 'one' }, second: { $ref: '#/components/examples/Second' } }
    const content = (media: object) => ({ content: { 'application/json': media } })
    const document = {
      openapi: '3.1.0',
      info: { title: '', version: '' },
      paths: {
        '/a': {
          get: {
            operationId: 'a',
            responses: {
              200: content({ examples }),
              '4XX': content({ example: 4 }),
              default: content({ schema: { type: 'boolean' } }),
            },
          },
          put: {
            operationId: 'b',
            responses: { 204: { headers: { 'X-A': { schema: { type: 'integer', examples: [1] } } } } },
          },
        },
      },
      components: { examples: { Second: { value: 'two' } } },
    } as unknown as Document
    const [get, put] = endpoints(document) as [Endpoint, Endpoint]
    const cases: [Endpoint, string, unknown][] = [
      [get, '', undefined],
      [get, 'example=second', [200, 'two', 'example=second']],
      [get, 'example="second", code=200', [200, 'two', 'code=200, example=second']],
      [get, 'code=200', [200, 'one', 'code=200']],
      [get, 'code=200, example=toString', [200, 'one', 'code=200']],
      [get, 'code=418, example=second', [418, 4, 'code=418']],
      [get, 'code=500', [500, false, 'code=500']],
      [get, 'code=100', undefined],
      [put, 'code=200', undefined],
      [put, 'code=204', [204, undefined, 'code=204']],
    ]
    for (const [endpoint, prefer, expected] of cases) {
      const reply = preferredResponse(document, endpoint, prefer)
      t.same(reply && [reply.outcome.status, reply.outcome.body, reply.applied], expected, prefer)
    }
    t.same(preferredResponse(document, put, 'code=204')?.outcome.headers, { 'X-A': 1 })
  },
)

t.test('the mock returns the first successful response', async (t) => {
  const content = (example: object) => ({ content: { 'application/json': example } })
  const reply = (responses: object) => {
    const document = {
      openapi: '3.1.0',
      info: { title: '', version: '' },
      paths: { '/a': { get: { operationId: 'a', responses } } },
      components: { examples: { Kept: { value: 'kept' } } },
    } as Document
    return exampleResponse(document, endpoints(document)[0] as Endpoint)
  }
  t.same(reply({ 404: {}, 201: content({ example: 1 }) }), { status: 201, body: 1 })
  t.same(reply({ 204: {} }), { status: 204, body: undefined })
  t.same(reply({ '2XX': content({ examples: { kept: { $ref: '#/components/examples/Kept' } } }) }), {
    status: 200,
    body: 'kept',
  })
  t.same(reply({ default: content({ schema: { type: 'boolean' } }) }), { status: 200, body: false })
})
