import { PassThrough } from 'node:stream'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { type InjectTargetOptions, injectTarget } from '../../../src/contract-test/targets/inject-target.ts'
import { testRequest as request } from '../test-request.ts'

function served(t: Test, add: (app: FastifyInstance) => unknown, options?: InjectTargetOptions) {
  const app = Fastify()
  add(app)
  t.teardown(() => app.close())
  return injectTarget(app, options)
}

t.test('a request arrives as it was given, from an address of its own', async (t) => {
  const target = served(t, function addRoutes(app) {
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    app.post('/*', async ({ raw, body, ip, headers }) => [raw.url, String(body), ip, headers['user-agent'] ?? null])
  })
  const sent = request({ method: 'POST', target: '/p/a%2Fb/../c?x=[1]', body: Buffer.from('xyz') })
  const bodyOf = async () => JSON.parse(Buffer.from((await target.send(sent)).body).toString())
  t.same(await bodyOf(), [sent.target, 'xyz', '127.0.0.1', null])
  t.same((await bodyOf())[2], '127.0.0.2')
})

t.test('HEAD has no body, and a prefix precedes each path', async (t) => {
  const target = served(t, (app) => app.get('/v1/pets', async () => ({ name: 'Rex' })), { prefix: '/v1' })
  const { status, headers, body } = await target.send(request({ method: 'HEAD' }))
  t.same([status, headers['content-length'], body.length], [200, '14', 0])
})

t.test('a response is bounded in time and in bytes', async (t) => {
  const silent = served(t, (app) => app.get('/pets', () => new Promise(() => {})), { limits: { time: 30 } })
  await t.rejects(silent.send(request()), { kind: 'timeout', message: /no complete response/ })
  const endless = served(
    t,
    (app) =>
      app.get('/pets', async function writeOn() {
        const stream = new PassThrough()
        const writeMore = () => !stream.destroyed && stream.write(Buffer.alloc(10_000)) && setImmediate(writeMore)
        stream.on('drain', writeMore)
        writeMore()
        return stream
      }),
    { limits: { bytes: 100_000 } },
  )
  await t.rejects(endless.send(request()), { kind: 'tooLarge', message: /more than/ })
})

t.test('a response that breaks off or has another length is an error', async (t) => {
  const broken = served(t, (app) =>
    app.get('/pets', async function breakOff() {
      const stream = new PassThrough()
      stream.write('part')
      setImmediate(() => stream.destroy(new Error('broken')))
      return stream
    }),
  )
  await t.rejects(broken.send(request()), { kind: 'broken', message: /./ })
  const wrong = served(t, (app) =>
    app.get('/pets', async (_, reply) => {
      reply.hijack()
      reply.raw.writeHead(200, { 'content-length': 5 })
      reply.raw.end('abc')
    }),
  )
  await t.rejects(wrong.send(request()), { kind: 'broken', message: /./ })
})

t.test('a request that HTTP/1.1 cannot carry is not sent', async (t) => {
  const target = served(t, (app) => app.get('/pets', () => t.fail('a request arrived')))
  for (const given of [{ method: 'A B' }, { target: '/a b' }, { headers: { x: 'a\nb' } }])
    await t.rejects(
      target.send(request(given)),
      { kind: 'unsendable', message: /cannot be sent/ },
      JSON.stringify(given),
    )
})

t.test('only an application that may listen gets requests that are cut off', async (t) => {
  t.equal(served(t, () => {}).sendCut, undefined)
  const app = Fastify()
  app.post('/pets', async () => ({}))
  t.teardown(() => app.close())
  const target = injectTarget(app, { listen: true })
  await target.sendCut?.(request({ method: 'POST', body: Buffer.from('abcdef') }), 3)
  t.ok(app.server.listening)
  await target.close()
  t.notOk(app.server.listening)
})
