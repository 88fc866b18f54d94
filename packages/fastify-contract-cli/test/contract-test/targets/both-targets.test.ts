import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { requestPrinter } from '../../../src/contract-test/shown-messages.ts'
import { injectTarget } from '../../../src/contract-test/targets/inject-target.ts'
import type { TargetError } from '../../../src/contract-test/targets/target-error.ts'
import { urlTarget } from '../../../src/contract-test/targets/url-target.ts'
import type { Endpoint } from '../../../src/document/openapi-document.ts'
import { testRequest } from '../test-request.ts'

const requestOf = (method: string, target: string, body?: Uint8Array) =>
  testRequest({
    operation: { server: 'http://127.0.0.1:3000' } as Endpoint,
    method,
    target,
    headers: body === undefined ? {} : { 'content-type': 'application/octet-stream' },
    body,
  })

/** Returns the kind of the error with which a promise rejects; undefined if it resolves. */
const failureOf = (sent: Promise<unknown>) =>
  sent.then(
    () => undefined,
    ({ kind }: TargetError) => kind,
  )

/** Returns an application that responds with what it received. */
function echoApp(t: Test) {
  const app = Fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: unknown, body: Buffer) => body)
  app.all('/*', async ({ method, raw, body }, reply) => {
    const bytes = Buffer.isBuffer(body) ? body.toString('hex') : 'none'
    reply.header('x-received', `${method} ${raw.url} ${raw.headers['user-agent']} ${bytes}`)
    return Buffer.from([0, 255])
  })
  return app
}

t.test('both targets send the same bytes', async (t) => {
  const app = echoApp(t)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  for (const target of [injectTarget(app), urlTarget(url)]) {
    t.teardown(() => target.close())
    const { status, headers, body } = await target.send(requestOf('PUT', '/a/../%7B|?q=%27', Uint8Array.of(1, 200)))
    t.equal(status, 200, target.name)
    t.equal(headers['x-received'], 'PUT /a/../%7B|?q=%27 undefined 01c8', target.name)
    t.same([...body], [0, 255], target.name)
    t.equal((await target.send(requestOf('HEAD', '/x'))).body.length, 0, target.name)
    t.equal(await failureOf(target.send(requestOf('GET', '/a b'))), 'unsendable', target.name)
  }
})

t.test('reports show the target that the server gets', async (t) => {
  const app = echoApp(t)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const request = { ...requestOf('GET', '/v1/pets?a=1'), operation: { server: 'https://pets.example/v1' } as Endpoint }
  const document = { openapi: '3.1.0', info: { title: 'A', version: '1.0.0' }, paths: {} }
  for (const [target, expected] of [
    [injectTarget(app), '/v1/pets?a=1'],
    [injectTarget(app, { prefix: '/api' }), '/api/v1/pets?a=1'],
    [urlTarget(url), '/v1/pets?a=1'],
    [urlTarget(`${url}/api/`), '/api/pets?a=1'],
    [urlTarget(`${url}/api`, { prefix: '/v2' }), '/api/v2/v1/pets?a=1'],
    [urlTarget(url, { prefix: '' }), '/v1/pets?a=1'],
  ] as const) {
    t.teardown(() => target.close())
    const { headers } = await target.send(request)
    t.equal(String(headers['x-received']).split(' ')[1], expected)
    t.equal(requestPrinter(document, target)(request).target, expected)
  }
})

t.test('endless and missing responses end at the bounds', async (t) => {
  const app = Fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  app.get('/never', () => new Promise(() => {}))
  app.get('/endless', (_, reply) => {
    reply.hijack()
    const write = () => {
      if (reply.raw.destroyed) return
      reply.raw.write(Buffer.alloc(1_000))
      setImmediate(write)
    }
    write()
  })
  app.get('/closed', (_, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, { 'content-length': '10' }).write('12345')
    setImmediate(() => reply.raw.destroy())
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const limits = { time: 2_000, bytes: 100_000 }
  for (const target of [injectTarget(app, { limits }), urlTarget(url, { limits })]) {
    t.teardown(() => target.close())
    t.equal(await failureOf(target.send(requestOf('GET', '/endless'))), 'tooLarge', target.name)
    t.equal(await failureOf(target.send(requestOf('GET', '/closed'))), 'broken', target.name)
    t.equal(await failureOf(target.send(requestOf('GET', '/never'))), 'timeout', target.name)
  }
})
