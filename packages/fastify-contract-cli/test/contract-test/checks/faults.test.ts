import type { FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import { checks } from '../../../src/contract-test/checks/checks.ts'
import { runContractTest } from '../../../src/contract-test/contract-test.ts'
import { before, credentials, type Fault, faultyDocument, faultyService, type Thing } from './faulty-service.ts'

const targets = ['in process', 'by URL'] as const
type Target = (typeof targets)[number]

/** Tests the service with a fault. */
async function failuresOf(t: Test, target: Target, fault?: Fault, more: object = {}) {
  const app = faultyService(fault)
  t.teardown(() => app.close())
  const server = target === 'in process' ? app : { url: await app.listen({ host: '127.0.0.1', port: 0 }) }
  const options = { document: faultyDocument, credentials, requests: 250, maxGap: 30_000, ...more }
  return await runContractTest(server, options)
}

for (const target of targets)
  t.test(`a faultless service fails no check ${target}, and each check looks at it`, async (t) => {
    const { failures, checks, operations } = await failuresOf(t, target)
    t.same(failures, [])
    t.same(
      operations.flatMap(({ untested }) => untested ?? []),
      [],
    )
    const unused = checks.filter(({ looked }) => looked === 0).map(({ check }) => check)
    t.same(unused, target === 'in process' ? [] : ['event-loop-gap'])
  })

/** A fault that exactly one check reports, with what it expects and gets at the first operation. */
type Case = {
  check: string
  operation: string
  expected: string | RegExp
  got: string | RegExp
  fault: Fault
  /** The methods of the requests before the one that fails. */
  earlier?: string[]
  only?: Target
  options?: object
}

/** Sends a text on the connection of each HEAD, as a server without rules for it would. */
const headWithBody: Fault = (app) =>
  app.addHook('onRequest', async function writeBody({ method, raw, routeOptions }, reply) {
    if (method !== 'HEAD' || routeOptions.url !== '/things') return
    reply.hijack()
    raw.socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: 2\r\n\r\n[]')
  })

/** Breaks the connections after each request that was cut off, the first new one at last. */
const breaksAfterCut: Fault = function failNext(app) {
  let isHurt = false
  const known = new WeakSet<object>()
  app.addHook('onRequest', async function watch({ raw }, reply) {
    if (isHurt) {
      isHurt = known.has(raw.socket)
      reply.hijack().raw.destroy()
    }
    known.add(raw.socket)
    raw.on('close', () => {
      isHurt ||= !raw.complete
    })
  })
}

/** Requires no credentials for an operation. */
const opens =
  (method: string, url: string): Fault =>
  (_, store) =>
    Object.assign(store, {
      isOpen: (request: FastifyRequest) => request.method === method && request.routeOptions.url === url,
    })

const sizeOf = (query: unknown) => (query as { size?: string }).size

const cases: Record<string, Case> = {
  'a connection that breaks': {
    check: 'complete-response',
    operation: 'listThings',
    expected: 'a complete response',
    got: /closed the connection/,
    fault: (app) =>
      before(app, 'GET /things', function breakOff({ query }, reply) {
        if (sizeOf(query) === '10') reply.hijack().raw.destroy()
      }),
  },
  'a handler that throws': {
    check: 'no-server-error',
    operation: 'createThing',
    expected: 'a status below 500',
    got: 'status 500',
    fault: (app) =>
      before(app, 'POST /things', function fail({ body }) {
        if ((body as Thing).count === 100) throw new Error('x')
      }),
  },
  'a status that is not listed': {
    check: 'documented-status',
    operation: 'listThings',
    expected: 'one of the documented statuses 200, 400, 401, 403, 404',
    got: 'status 203',
    fault: (app) =>
      app.addHook('onSend', async function changeStatus({ routeOptions }, reply) {
        if (routeOptions.url === '/things' && reply.statusCode === 200) reply.code(203)
      }),
  },
  'another media type': {
    check: 'documented-media-type',
    operation: 'readThing',
    expected: 'Content-Type application/json',
    got: 'Content-Type "text/html"',
    fault: (app) =>
      app.addHook('onSend', async function sendPage({ routeOptions }, reply) {
        if (routeOptions.url === '/things/:thingId' && reply.statusCode === 200) reply.type('text/html')
      }),
  },
  'a missing header': {
    check: 'documented-headers',
    operation: 'listThings',
    expected: 'the header X-Total, which the document requires',
    got: 'no such header',
    fault: (app) => app.addHook('onSend', async (_, reply) => void reply.removeHeader('x-total')),
  },
  'a header of another type': {
    check: 'documented-headers',
    operation: 'listThings',
    expected: 'a header X-Total that matches its schema',
    got: '"many"',
    fault: (app) =>
      app.addHook('onSend', async function writeTotal(_, reply) {
        if (reply.hasHeader('x-total')) reply.header('x-total', 'many')
      }),
  },
  'a response without a property': {
    check: 'valid-body',
    operation: 'createThing',
    expected: 'a body that matches its schema',
    got: "body must have required property 'count'",
    fault: (_, store) => Object.assign(store, { shown: ({ id, name }: Thing) => ({ id, name }) }),
  },
  'HEAD with a body': {
    check: 'empty-body',
    operation: 'listThings',
    expected: 'no body in a response to HEAD',
    got: '2 bytes',
    fault: headWithBody,
    // node:http writes no such body, nor does an application in this process.
    only: 'by URL',
  },
  'a writeOnly property in a response': {
    check: 'no-write-only',
    operation: 'createThing',
    expected: 'no writeOnly property',
    got: 'the property /secret',
    fault: (_, store) => Object.assign(store, { shown: (one: Thing) => one }),
  },
  'a parameter that is not validated': {
    check: 'rejects-invalid',
    operation: 'listThings',
    expected: /^a status of 4xx, since the request is invalid: query size /,
    got: 'status 200',
    fault: (app) =>
      before(app, 'GET /things', (_, reply) => reply.header('x-total', 1).send([{ id: 1, name: 'first', count: 1 }])),
  },
  'a bound that is one too low': {
    check: 'accepts-valid',
    operation: 'listThings',
    expected: 'a status that does not call a valid request invalid',
    got: 'status 400',
    fault: (app) =>
      before(app, 'GET /things', ({ query }, reply) =>
        sizeOf(query) === '10' ? reply.code(400).send({ message: 'size' }) : undefined,
      ),
  },
  '401 without a challenge': {
    check: 'authenticate-header',
    operation: 'listThings',
    expected: 'a WWW-Authenticate header',
    got: 'no such header',
    fault: (app) => app.addHook('onSend', async (_, reply) => void reply.removeHeader('www-authenticate')),
  },
  'an operation without authentication': {
    check: 'requires-credentials',
    operation: 'listThings',
    expected: 'status 401 or 403 for a request without credentials',
    got: 'status 200',
    fault: opens('GET', '/things'),
  },
  'a removal without authentication': {
    check: 'requires-credentials',
    operation: 'removeThing',
    expected: 'status 401 or 403 for a request without credentials',
    got: 'status 204',
    fault: opens('DELETE', '/things/:thingId'),
    earlier: ['POST', 'PUT'],
  },
  'a method that is not listed': {
    check: 'unknown-method',
    operation: 'listThings',
    expected: 'status 405 for PATCH, which the document does not list',
    got: 'status 200',
    fault: (app) => app.patch('/things', () => 'ok'),
  },
  '405 without Allow': {
    check: 'unknown-method',
    operation: 'listThings',
    expected: 'an Allow header in a response with the status 405',
    got: 'no such header',
    fault: (app) => app.patch('/things', (_, reply) => reply.code(405).send()),
  },
  'another status for HEAD': {
    check: 'head-as-get',
    operation: 'listThings',
    expected: 'the status of GET, 200',
    got: 'status 204',
    fault: (app) => before(app, 'HEAD /things', (_, reply) => reply.code(204).send()),
  },
  'another header for HEAD': {
    check: 'head-as-get',
    operation: 'listThings',
    expected: 'the header content-type of GET, "application/json; charset=utf-8"',
    got: '"text/plain"',
    fault: (app) =>
      app.addHook('onSend', async ({ method }, reply) => void (method === 'HEAD' && reply.type('text/plain'))),
  },
  'a GET that changes what the next one reads': {
    check: 'repeated-get',
    operation: 'listThings',
    expected: 'the response of the request before: body/0/count 4',
    got: 'body/0/count 5',
    fault: (app, { listed }) =>
      before(app, 'GET /things', function change() {
        if (listed.count < 5) listed.count++
      }),
    earlier: ['GET'],
  },
  'a create that takes the id of the client': {
    check: 'keeps-read-only',
    operation: 'createThing',
    expected: 'another value of the readOnly property /id than the one that was sent',
    got: /^\d{3,4}$/,
    fault: (_, store) => Object.assign(store, { idOf: (sent: Partial<Thing>, next: number) => sent.id ?? next }),
  },
  'a change that takes a readOnly property': {
    check: 'keeps-read-only',
    operation: 'readThing',
    expected: 'another value of the readOnly property /id than the one that was sent',
    got: /^\d{3,4}$/,
    fault: (_, store) => Object.assign(store, { keptId: (sent: Partial<Thing>, id: number) => sent.id ?? id }),
    earlier: ['POST', 'PUT'],
  },
  'a rejected change that is stored': {
    check: 'rejection-changes-nothing',
    operation: 'replaceThing',
    expected: /^body\/name "[a-z]+", as before a request that was rejected with 400$/,
    got: 'body/name "spoiled"',
    fault: (_, store) =>
      Object.assign(store, {
        reject({ params }: { params: { thingId?: string } }) {
          const one = store.things.get(Number(params.thingId))
          if (one !== undefined) one.name = 'spoiled'
        },
      }),
    earlier: ['POST', 'GET'],
  },
  'a server that a request hurts which is cut off': {
    check: 'survives-cut-request',
    operation: 'createThing',
    expected: 'a response to the request after one that was cut off',
    got: /closed the connection/,
    fault: breaksAfterCut,
    earlier: ['POST'],
  },
  'a create that stores nothing': {
    check: 'created-is-readable',
    operation: 'readThing',
    expected: 'the resource that POST /things created with 201',
    got: 'status 404',
    fault: (_, store) => Object.assign(store, { create: () => {} }),
    earlier: ['POST'],
  },
  'a link that leads to nothing': {
    check: 'created-is-readable',
    operation: 'getBill',
    expected: 'what the link of POST /orders leads to',
    got: 'status 404',
    fault: (_, { bills }) => Object.assign(bills, { add: () => {} }),
    earlier: ['POST'],
  },
  'a create that stores another value': {
    check: 'written-is-read',
    operation: 'readThing',
    expected: /^name "[a-z]+", as written by POST \/things$/,
    got: 'name "zzz"',
    fault: (_, store) =>
      Object.assign(store, { create: (one: Thing) => void store.things.set(one.id, { ...one, name: 'zzz' }) }),
    earlier: ['POST'],
  },
  'a change that stores nothing': {
    check: 'written-is-read',
    operation: 'readThing',
    expected: /, as written by PUT \/things\/\{thingId\}$/,
    got: /^(?:name|count) /,
    fault: (_, store) => Object.assign(store, { replace: () => {} }),
    earlier: ['POST', 'PUT'],
  },
  'a removal that keeps the resource': {
    check: 'deleted-is-gone',
    operation: 'readThing',
    expected: 'status 404 or 410 after DELETE got 204',
    got: 'status 200',
    fault: (_, store) => Object.assign(store, { remove: () => {} }),
    earlier: ['POST', 'PUT', 'DELETE'],
  },
  'a handler that blocks the event loop': {
    check: 'event-loop-gap',
    operation: 'listThings',
    expected: 'at most 200 ms',
    got: /^\d{3,} ms$/,
    fault: (app) =>
      before(app, 'GET /things', function block() {
        for (const end = performance.now() + 300; performance.now() < end; );
      }),
    only: 'in process',
    options: { maxGap: 200, requests: 10 },
  },
}

t.test('each check has a fault that it reports', async (t) => {
  // The service declares neither preconditions nor keys: their checks have tests of their own.
  const ownTests = ['conditional-requests', 'repeated-key']
  const shown = new Set([...Object.values(cases).map(({ check }) => check), ...ownTests])
  t.same(
    checks.filter(({ name }) => !shown.has(name)),
    [],
  )
})

for (const [title, { check, operation, expected, got, fault, earlier = [], only, options }] of Object.entries(cases))
  for (const target of only === undefined ? targets : [only])
    t.test(`${title} fails ${check} alone ${target}`, async (t) => {
      const { failures } = await failuresOf(t, target, fault, options)
      const [failure] = failures
      t.same(
        [...new Set(failures.map((one) => one.check))],
        [check],
        JSON.stringify(failures.map((one) => [one.check, one.operation.operationId, one.expected, one.got])),
      )
      t.match(failure, { operation: { operationId: operation }, expected, got })
      t.same(
        failure?.earlier.map(({ method }) => method),
        earlier,
      )
    })
