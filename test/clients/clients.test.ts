import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import type { Case, Line } from './driver.ts'
import { expectedOf, isSame, judge, type Result, textOf, withoutPath } from './judge.ts'

type Operation = { operationId: string; parameters?: { name: string }[]; requestBody?: object; security?: object[] }

const document = parse(readFileSync('test/clients/everything.yaml', 'utf8'))
const operations: Operation[] = Object.values<object>(document.paths).flatMap((path) => Object.values(path))
const cases: Case[] = JSON.parse(readFileSync('test/clients/cases.json', 'utf8'))

t.test('each operation of the document of everything has one to five cases, with names of their own', async (t) => {
  for (const { operationId } of operations) {
    const names = cases.filter(({ operation }) => operation === operationId).map((each) => each.case)
    t.ok(names.length >= 1 && names.length <= 5 && new Set(names).size === names.length, operationId)
  }
})

t.test('a case gives parameters, a body and credentials only to operations that describe them', async (t) => {
  const byId = new Map(operations.map((operation) => [operation.operationId, operation]))
  for (const each of cases) {
    const { parameters = [], requestBody, security = [] } = byId.get(each.operation) as Operation
    const unknown = Object.keys(each.arguments ?? {}).filter((name) => !parameters.some((known) => known.name === name))
    t.same(unknown, [], `${each.operation}, ${each.case}: arguments`)
    if ('body' in each) t.ok(requestBody, `${each.operation}, ${each.case}: body`)
    const schemes = security.flatMap((requirement) => Object.keys(requirement))
    const others = Object.keys(each.credentials ?? {}).filter((name) => !schemes.includes(name))
    t.same(others, [], `${each.operation}, ${each.case}: credentials`)
  }
})

const each: Case = { operation: 'queryInt64', case: 'largest', arguments: { value: { $int64: '9223372036854775807' } } }
const line: Line = {
  operation: 'queryInt64',
  case: 'largest',
  sent: true,
  status: 200,
  response: expectedOf(each).response,
}
const seen = {
  sent: 'GET /queryInt64?value=9223372036854775807 HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n',
  returned: 'HTTP/1.1 200 OK\r\n\r\n{}',
  received: [{ arguments: { value: { $int64: '9223372036854775807' } } }],
}
const wire = { target: 'GET /queryInt64?value=9223372036854775807', headers: { accept: '*/*' } }

t.test('a case is right if what was meant arrives and comes back', async (t) =>
  t.same(judge(each, line, seen), { verdict: 'right', wire }),
)

t.test('a case is different if another value arrives or comes back', async (t) => {
  const received = [{ arguments: { value: { $int64: '9223372036854775808' } } }]
  t.match(judge(each, line, { ...seen, received }), { verdict: 'different', arrived: received[0] })
  const rounded = { ...line, response: { received: { arguments: { value: 9223372036854775807n + 1n } } } }
  t.match(judge(each, rounded, seen), { verdict: 'different', returned: { status: 200 } })
  t.match(judge(each, { ...line, status: 204 }, seen), { verdict: 'different', returned: { status: 204 } })
})

t.test('a case is rejected if the service sends an error that is not meant', async (t) => {
  const returned = 'HTTP/1.1 400 Bad Request\r\n\r\n{"code":400,"message":"query/value must be an integer"}'
  const message = '400: query/value must be an integer'
  t.same(judge(each, line, { ...seen, returned, received: [] }), { verdict: 'rejected', wire, message })
})

t.test('a case that does not reach the service is not sent, or missing', async (t) => {
  const unsent = { operation: 'queryInt64', case: 'largest', sent: false, error: 'TypeError: no' }
  t.same(judge(each, unsent, { sent: '', returned: '', received: [] }), {
    verdict: 'not sent',
    message: 'TypeError: no',
  })
  t.same(judge(each, undefined, undefined, 'no method'), { verdict: 'missing', message: 'no method' })
  t.same(judge(each, { ...unsent, missing: true }, undefined), { verdict: 'missing', message: 'TypeError: no' })
})

t.test('the wire form has neither tokens, addresses, boundaries nor the sizes of chunks', async (t) => {
  const head = 'POST /bodyMultipartFile/0x6575389a798 HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x1\r\n'
  const chunks = 'Transfer-Encoding: chunked\r\n\r\n4\r\n--x1\r\n2\r\n--\r\n0\r\n\r\n'
  const { wire } = judge(each, line, { ...seen, sent: `${head}X-Api-Key: matrix-token-1\r\n${chunks}` })
  t.same(wire, {
    target: 'POST /bodyMultipartFile/ADDRESS',
    headers: {
      'content-type': 'multipart/form-data; boundary=BOUNDARY',
      'transfer-encoding': 'chunked',
      'x-api-key': 'TOKEN',
    },
    body: '--BOUNDARY--',
  })
})

t.test('a result has no path of the directory of the run, also where a client sends it as bytes', async (t) => {
  const bytes = Buffer.from('"/tmp/a/file"').toString('base64')
  const masked = Buffer.from('"DIRECTORY/file"').toString('base64')
  const headers = { 'content-length': '13' }
  const result: Result = {
    verdict: 'different',
    wire: { ...wire, headers, body: '"/tmp/a/file"' },
    arrived: { body: { $bytes: bytes } },
    returned: { status: 200, response: ['/tmp/a/file', 12n] },
  }
  t.same(withoutPath(result, '/tmp/a'), {
    verdict: 'different',
    wire: { ...wire, headers: { 'content-length': '…' }, body: '"DIRECTORY/file"' },
    arrived: { body: { $bytes: masked } },
    returned: { status: 200, response: ['DIRECTORY/file', 12n] },
  })
  t.same(withoutPath({ verdict: 'right', wire: { ...wire, headers } }, '/tmp/a').wire?.headers, headers)
})

t.test('two runs are compared without the order of members and of parts', async (t) => {
  const resultOf = (body: string, arrived: object): Result => ({
    verdict: 'different',
    wire: { ...wire, body },
    arrived,
  })
  const first = textOf({ 'a/b': resultOf('{"x":1,"y":2}', { x: 1n, y: 2n }) })
  t.equal(first, textOf({ 'a/b': resultOf('{"y":2,"x":1}', { y: 2n, x: 1n }) }))
  t.not(first, textOf({ 'a/b': resultOf('{"x":1,"y":3}', { x: 1n, y: 2n }) }))
  t.not(first, textOf({ 'a/b': resultOf('{"x":1,"y":2}', { x: 2n, y: 1n }) }))
})

t.test('values are compared by what they mean', async (t) => {
  t.ok(isSame(5, { $int64: '5' }))
  t.ok(isSame('2026-11-28T10:20:30.000Z', { $dateTime: '2026-11-28T12:20:30+02:00' }))
  t.ok(isSame({ 'x-value': 'a' }, { 'X-Value': 'a' }))
  t.ok(isSame({ code: 1, message: 'any' }, { code: 1, message: '$any' }))
  t.notOk(isSame({ code: 2, message: 'any' }, { code: 1, message: '$any' }))
  t.notOk(isSame('5', 5))
})
