import { createServer } from 'node:net'
import { run } from 'fastify-contract-test-support/child-process'
import t from 'tap'
import { assertContractResponse } from '../support/contract.ts'

t.test('the mock answers with examples and rejects what the service rejects', async (t) => {
  const mock = run(t, 'packages/fastify-contract-cli/src/cli.ts', {}, ['mock', '--realm', 'plant-store'])
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
  t.match(await run(t, 'packages/fastify-contract-cli/src/cli.ts', { PORT }, ['mock']).ended, {
    code: 1,
    stderr: /^mock: PORT is \d+: another process listens on 127\.0\.0\.1:\d+; use a free port/,
  })
})
