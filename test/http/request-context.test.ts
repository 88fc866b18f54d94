import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { errorNumbers } from '../../generated/error-numbers.ts'
import { ContractError } from '../../packages/fastify-contract/src/contract/errors.ts'
import { toContractError } from '../../packages/fastify-contract/src/http/error-responses.ts'
import { newContext, type RequestContext } from '../../packages/fastify-contract/src/http/request-context.ts'
import { openMemory } from '../../src/store/memory.ts'
import { contractErrorNumbers } from '../support/contract.ts'
import { request } from '../support/raw-http.ts'
import { createTestApp } from '../support/test-app.ts'

t.test('a well-formed request ID is kept', async (t) => {
  for (const id of ['a', 'A-b_c.9', 'x'.repeat(128)]) t.equal(newContext('GET', { 'x-request-id': id }).id, id)
  for (const id of ['', 'x'.repeat(129), 'a b', 'a,b', 'a\n', 'ä', '"a"', '$(a)', undefined, ['a', 'b']])
    t.match(newContext('GET', { 'x-request-id': id }).id, /^[\w-]{16}-\d+$/, String(id))
})

t.test('a valid traceparent is kept', async (t) => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const parentId = '00f067aa0ba902b7'
  const valid = ['00-T-P-01', '00-T-P-00', '01-T-P-01', '01-T-P-01-more', 'cc-T-P-01-']
  const invalid = [
    '',
    '00-T-P',
    '00-T-P-01-more',
    '00-T-P-1',
    'ff-T-P-01',
    '0-T-P-01',
    '00-P-T-01',
    ' 00-T-P-01',
    '00-T-P-01, 00-T-P-01',
  ]
  const traceOf = (text: string) =>
    newContext('GET', { traceparent: text.replaceAll('T', traceId).replaceAll('P', parentId) }).trace
  for (const text of valid) t.same(traceOf(text), { traceId, parentId }, text)
  for (const text of invalid) t.equal(traceOf(text), undefined, text)
  t.equal(traceOf(`00-${'0'.repeat(32)}-P-01`), undefined)
  t.equal(traceOf(`00-T-${'0'.repeat(16)}-01`), undefined)
  t.equal(traceOf(`00-${traceId.toUpperCase()}-P-01`), undefined, 'the letters are lower-case')
  t.equal(newContext('GET', { traceparent: ['a', 'b'] }).trace, undefined)
})

/** Starts a service that listens, and records the request contexts that its observer receives. */
async function observed(t: Test, options: Parameters<typeof createTestApp>[1] = {}) {
  const begun: RequestContext[] = []
  const ended: RequestContext[] = []
  const observer = { begin: (one: RequestContext) => begun.push(one), end: (one: RequestContext) => ended.push(one) }
  const service = await createTestApp(t, { ...options, observer })
  const port = await service.listen()
  const until = async (isSo: () => boolean) => {
    for (let waited = 0; !isSo() && waited < 3_000; waited += 5) await new Promise((resolve) => setTimeout(resolve, 5))
    return isSo()
  }
  const send = async (bytes: string | Buffer, answers: number) => {
    const socket = connect(port, '127.0.0.1')
    t.teardown(() => socket.destroy())
    let received = ''
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        received += chunk
      })
    const before = ended.length
    socket.write(bytes)
    const heads = () => Array.from(received.matchAll(/HTTP\/1\.1 \d+/g)).length
    t.ok(await until(() => heads() === answers && ended.length >= before + answers), `${answers} responses`)
    return { socket, ids: Array.from(received.matchAll(/^x-request-id: (.*)\r$/gm), ([, id]) => id) }
  }
  return { ...service, begun, ended, send, until }
}

t.test('observers see every request and its end once', async (t) => {
  const { begun, ended, send } = await observed(t)
  const bytes = Buffer.concat([
    request({ headers: ['X-Request-Id: first'] }),
    request({ headers: ['Authorization: Bearer wrong'] }),
    request({ line: 'GET /nowhere HTTP/1.1', body: '' }),
    request({ line: 'GET /%zz HTTP/1.1', body: '' }),
    request({ body: '{"id":1,"name":"other"}' }),
    request({ headers: ['Expect: nothing'] }),
  ])
  const { ids } = await send(bytes, 6)
  const operation = 'createPlant'
  t.match(ended, [
    {
      id: 'first',
      method: 'POST',
      operation,
      client: { name: 'access-token-1' },
      address: '127.0.0.1',
      status: 200,
      error: undefined,
    },
    { method: 'POST', operation, client: undefined, status: 401, error: 40101 },
    { method: 'GET', operation: undefined, client: undefined, address: '127.0.0.1', status: 404, error: 40400 },
    { method: 'GET', operation: undefined, address: '127.0.0.1', status: 400, error: 40001 },
    { method: 'POST', operation, client: { name: 'access-token-1' }, status: 409, error: 40900 },
    { method: 'POST', status: 417, error: 41700 },
  ])
  t.same(begun, ended)
  t.same(
    ids,
    ended.map(({ id }) => id),
    'each response has its request id',
  )
  for (const { duration } of ended) t.ok(duration > 0)
})

t.test('observers see malformed requests as well', async (t) => {
  const { begun, ended, send } = await observed(t)
  const { ids } = await send('nonsense\r\n\r\n', 1)
  t.match(ended, [{ id: ids[0], method: '', operation: undefined, address: '127.0.0.1', status: 400, error: 40000 }])
  await send('CONNECT plants.example:80 HTTP/1.1\r\nHost: plants.example\r\n\r\n', 1)
  t.match(ended[1], { status: 405, error: 40500 })
  const chunked = request({ headers: ['Transfer-Encoding: chunked'], body: 'nonsense\r\n' })
  const half = await send(chunked, 1)
  t.match(ended[2], { id: half.ids[0], operation: 'createPlant', status: 400, error: 40000 })
  t.same(begun, ended)
})

t.test('observers see the end of requests whose client disconnects, pipelined ones included', async (t) => {
  const { begun, ended, send, until } = await observed(t, {
    store: { ...openMemory(), create: () => new Promise(() => {}) },
  })
  const { socket } = await send(Buffer.concat([request(), request(), request()]), 0)
  t.ok(await until(() => begun.length === 3))
  socket.resetAndDestroy()
  t.ok(await until(() => ended.length === 3))
  t.same(
    ended.map(({ status, error }) => [status, error]),
    Array(3).fill([0, undefined]),
  )
})

t.test('malformed bytes behind a request in flight get one response and are observed once', async (t) => {
  const waiting: (() => void)[] = []
  const { begun, ended, send, until } = await observed(t, {
    store: { ...openMemory(), create: () => new Promise((resolve) => waiting.push(() => resolve('created'))) },
  })
  const { socket } = await send(request(), 0)
  t.ok(await until(() => waiting.length === 1))
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  for (let sent = 0; sent < 20; sent++) {
    socket.write('\0')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  waiting[0]?.()
  t.ok(await until(() => socket.destroyed))
  t.same(received.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 400'])
  t.same(
    ended.map(({ status, error }) => [status, error]),
    [
      [200, undefined],
      [400, 40000],
    ],
  )
  t.same(begun, ended)
})

t.test('every error number is in the error table of the document', async (t) => {
  for (const [kind, number] of Object.entries(errorNumbers)) t.ok(contractErrorNumbers.includes(number), kind)
  t.equal(new Set(contractErrorNumbers).size, contractErrorNumbers.length, 'each error has its own number')
})

t.test('every thrown value maps to an error of the contract', async (t) => {
  const known = new ContractError('missingToken', 'an access token is needed')
  t.equal(toContractError(known), known)
  const coded = (code: string, statusCode?: number) => Object.assign(new Error('secret'), { code, statusCode })
  const cases: [unknown, string, number][] = [
    [coded('FST_ERR_BAD_URL'), 'undecodableTarget', 400],
    [coded('FST_ERR_MAX_PARAM_LENGTH'), 'noSuchPath', 404],
    [coded('ERR_HTTP_REQUEST_TIMEOUT'), 'tooSlow', 408],
    [coded('HPE_HEADER_OVERFLOW'), 'headersTooLarge', 431],
    [coded('HPE_INVALID_METHOD'), 'malformedRequest', 400],
    [coded('FST_ERR_CTP_INVALID_CONTENT_LENGTH', 400), 'malformedRequest', 400],
    [coded('FST_ERR_CTP_INVALID_MEDIA_TYPE', 415), 'unsupportedMediaType', 415],
    [coded('ERR_ANYTHING', 502), 'internal', 500],
    [new Error('secret'), 'internal', 500],
    ['secret', 'internal', 500],
    [null, 'internal', 500],
    [undefined, 'internal', 500],
    [{ retryAfter: 1 }, 'internal', 500],
  ]
  for (const [thrown, name, status] of cases) {
    const { kind, statusCode, message } = toContractError(thrown)
    t.same([kind, statusCode], [name, status])
    t.notMatch(message, /secret/)
  }
})

t.test('an error of a plugin with a status from 400 to 499 keeps its status and message', async (t) => {
  const names = { 400: 'invalid', 404: 'noSuchPath', 422: 'status422', 429: 'tooManyRequests' }
  for (const [status, name] of Object.entries(names)) {
    const { kind, statusCode, message } = toContractError(
      Object.assign(new Error('no'), { statusCode: Number(status) }),
    )
    t.same([kind, statusCode, message], [name, Number(status), 'no'])
  }
  const large = Object.assign(new Error('no'), { code: 'FST_ERR_CTP_BODY_TOO_LARGE', statusCode: 413 })
  t.match(toContractError(large), { kind: 'bodyTooLarge', statusCode: 413 })
})

t.test('the status of an error is that of its name, another one that is given, or 500', async (t) => {
  t.equal(new ContractError('notJson', 'no').statusCode, 400)
  t.equal(new ContractError('idTaken', 'taken', {}, 409).statusCode, 409)
  // @ts-expect-error A name that the service does not have needs a status.
  t.equal(new ContractError('idTaken', 'taken').statusCode, 500)
  t.equal(new ContractError('notImplemented', 'later').statusCode, 501)
})

t.test('a contract error rejects headers that HTTP does not allow', async (t) => {
  const withHeader = (name: string, value: string) => () => new ContractError('unavailable', 'full', { [name]: value })
  t.throws(withHeader('retry-after', '1\nx: y'), TypeError)
  t.throws(withHeader('retry after', '1'), TypeError)
})

t.test('an error with retryAfter becomes a 503', async (t) => {
  const { kind, headers } = toContractError(Object.assign(new Error('full'), { retryAfter: 0.2 }))
  t.equal(kind, 'unavailable')
  t.same(headers, { 'retry-after': '1' })
})
