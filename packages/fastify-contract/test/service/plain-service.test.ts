import { run, withKillAsExitCode } from 'fastify-contract-test-support/child-process'
import t from 'tap'
import { ownPath } from '../support/own-path.ts'

const module = ownPath('test/service/plain-service.ts')
const documentOf = (security: object[]) =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Pets', version: '1.2.3' },
    security,
    paths: { '/pets': { get: { operationId: 'listPets', responses: { 204: { description: 'No pets.' } } } } },
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  })
const secured = documentOf([{ token: ['read'] }])

t.test('a service with operations alone prints a call that its generated token may make', async (t) => {
  const service = run(t, module, { DOCUMENT: secured })
  const [, url, token] = await service.find(
    'stderr',
    /^plain 1\.2\.3 on (\S+), operations: 1, admin server on \S+\nACCESS_TOKENS is not set; using the generated token (\S+)\ncurl .*\n {2}-H 'Authorization: Bearer \2'\n/,
  )
  const response = await fetch(`${url}/pets`, { headers: { authorization: `Bearer ${token}` } })
  t.same(
    [response.status, await response.json()],
    [501, { error: 50100, message: 'not written yet' }],
    'it has every scope',
  )
  t.match(await service.stop(), { code: 0 })
})

t.test('the tokens of ACCESS_TOKENS have the scopes of ACCESS_TOKENS_SCOPE', async (t) => {
  const ACCESS_TOKENS = 'a-token-of-the-tests-0123456789-abcdef'
  for (const [ACCESS_TOKENS_SCOPE, status] of [
    ['write read', 501],
    ['write', 403],
  ] as const) {
    const service = run(t, module, { DOCUMENT: secured, ACCESS_TOKENS, ACCESS_TOKENS_SCOPE })
    const [, url] = await service.find('stderr', /^plain 1\.2\.3 on (\S+), /)
    const { status: sent } = await fetch(`${url}/pets`, { headers: { authorization: `Bearer ${ACCESS_TOKENS}` } })
    t.equal(sent, status, ACCESS_TOKENS_SCOPE)
    t.notMatch((await service.stop()).stderr, /curl/)
  }
})

t.test('a service whose operations need no credentials needs no tokens', async (t) => {
  const open = run(t, module, { DOCUMENT: documentOf([{}]), HOST: '0.0.0.0' })
  const [, url, adminUrl] = await open.find(
    'stderr',
    /^plain 1\.2\.3 on (\S+), operations: 1, admin server on (\S+)\ncurl \S+\n/,
  )
  t.equal((await fetch(`${url}/pets`)).status, 501)
  t.equal((await fetch(`${adminUrl}/readyz`)).status, 200, 'a service without resources is ready')
  t.notMatch((await open.stop()).stderr, /token/)
  const silent = run(t, module, { DOCUMENT: documentOf([]), CURL: 'no' })
  await silent.find('stderr', /admin server on \S+\n/)
  t.notMatch((await silent.stop()).stderr, /curl/)
})

t.test('a service names an environment variable that is probably misspelled, and not its value', async (t) => {
  const service = run(t, module, { DOCUMENT: documentOf([{}]), CURL: 'no', HEADERS_TIMOUT: '4711', POST: '4712' })
  await service.find('stderr', /admin server on \S+\n/)
  const { code, stderr } = await service.stop()
  t.equal(code, 0)
  t.match(
    stderr,
    /^HEADERS_TIMOUT is set, but is not a variable of this service; did you mean HEADERS_TIMEOUT\?\nplain 1\.2\.3 on /,
  )
  t.notMatch(stderr, /471[12]/)
})

t.test('a failing hook of the application does not keep the resources open, and is reported', async (t) => {
  for (const HOOK of ['preClose', 'onClose']) {
    const service = run(t, module, { DOCUMENT: documentOf([{}]), CURL: 'no', HOOK })
    await service.find('stderr', /admin server on \S+\n/)
    const { code, stdout, stderr } = withKillAsExitCode(await service.stop())
    t.equal(code, 1, HOOK)
    t.match(stdout, /^closed$/m)
    t.match(stderr, `plain: ${HOOK} failed`)
  }
})
