import * as fc from 'fast-check'
import t from 'tap'
import type { TestRequest } from '../../../src/contract-test/exchange.ts'
import { type RequestOptions, requestMaker } from '../../../src/contract-test/requests/requests-of.ts'
import { type Document, type Endpoint, endpoints } from '../../../src/document/openapi-document.ts'
import { normalizedDocument } from '../../../src/passes/normalize.ts'

const int32 = { type: 'integer', format: 'int32' }
const json = (schema: object, more: object = {}) => ({ 'application/json': { schema, ...more } })
const done = { 204: { description: 'Done.' } }

/** Returns a normalized document with one operation. */
function documentOf(operation: object, more: object = {}): { document: Document; operation: Endpoint } {
  const document = normalizedDocument({
    openapi: '3.1.0',
    info: { title: 'Requests', version: '1.0.0' },
    servers: [{ url: 'https://example.com/v1' }],
    paths: { '/plants/{id}': { put: { operationId: 'putPlant', responses: done, ...operation } }, ...more },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
  } as unknown as Document)
  return { document, operation: endpoints(document)[0] as Endpoint }
}

const id = (schema: object = int32, more: object = {}) => ({ name: 'id', in: 'path', required: true, schema, ...more })
const query = (name: string, schema: object, more: object = {}) => ({ name, in: 'query', schema, ...more })

function requestsOf(operation: object, options?: RequestOptions, more?: object) {
  const given = documentOf(operation, more)
  return requestMaker(given.document, options).requestsOf(given.operation)
}

const textOf = ({ body }: TestRequest) => (body === undefined ? undefined : Buffer.from(body).toString())
const targetsOf = (requests: TestRequest[]) => requests.map(({ target }) => target)
const bodiesOf = (requests: TestRequest[]) => [...new Set(requests.map(textOf))]
const reasonsOf = ({ invalid }: ReturnType<typeof requestsOf>) =>
  invalid.map(({ violation: { part, place, reason } }) => `${part} ${place} ${reason}`)

const plant = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', maxLength: 3, minLength: 1 },
    key: { type: 'integer', format: 'int64' },
    planted: { type: 'string', format: 'date' },
    made: { type: 'string', readOnly: true },
    secret: { type: 'string', writeOnly: true },
  },
}

t.test('the examples of the document come first, and those that their schema rejects are left out', async (t) => {
  const { examples } = requestsOf({
    parameters: [id(int32, { examples: { one: { value: 7 }, two: { value: 8 }, wrong: { value: 'x' } } })],
    requestBody: { required: true, content: json(plant, { example: { name: 'Fig', made: 'now' } }) },
  })
  t.same(targetsOf(examples), ['/v1/plants/7', '/v1/plants/8'])
  t.ok(bodiesOf(examples).includes('{"name":"Fig","made":"now"}'))
  t.same([...(examples[0]?.values.parameters ?? [])], [['path id', 7]])
  t.equal(examples[0]?.headers['content-type'], 'application/json')
})

t.test('boundaries have each limit, with the exact digits of int64', async (t) => {
  const { boundaries } = requestsOf({
    parameters: [id({ ...int32, minimum: 1, exclusiveMaximum: 10 }), query('size', { enum: ['s', 'm'] })],
    requestBody: { content: json(plant) },
  })
  const targets = targetsOf(boundaries)
  for (const target of ['/v1/plants/1', '/v1/plants/9']) t.ok(targets.includes(target), target)
  for (const size of ['s', 'm']) t.ok(targets.some((target) => target.endsWith(`?size=${size}`)))
  const bodies = boundaries.map(textOf)
  for (const text of ['"key":9223372036854775807', '"key":-9223372036854775808', '"name":"a"', '"name":"aaa"'])
    t.ok(
      bodies.some((body) => body?.includes(text)),
      text,
    )
  t.ok(bodies.includes(undefined), 'without the optional body')
  t.notOk(bodies.some((body) => body?.includes('made')))
  t.ok(bodies.some((body) => body?.includes('secret')))
})

t.test('a limit with more digits than a double is met exactly', async (t) => {
  const wide = { type: 'integer', format: 'int64', minimum: 9007199254740993n, maximum: 9007199254740995n }
  const { boundaries } = requestsOf({ parameters: [id(wide)] })
  t.ok(targetsOf(boundaries).includes('/v1/plants/9007199254740993'))
  t.ok(targetsOf(boundaries).includes('/v1/plants/9007199254740995'))
})

t.test('each two optional parts occur together, alone and not at all', async (t) => {
  const { pairwise } = requestsOf({
    parameters: [id(), query('a', int32), query('b', int32)],
    requestBody: { content: json(plant) },
  })
  const has = (request: TestRequest, part: string) =>
    part === 'body'
      ? request.body !== undefined
      : request.values.parameters.has(`query ${part}`) || textOf(request)?.includes(`"${part}"`) === true
  for (const [one, other] of [
    ['a', 'b'],
    ['a', 'body'],
    ['b', 'body'],
    ['a', 'secret'],
    ['key', 'planted'],
  ] as const) {
    const found = new Set(pairwise.map((request) => `${has(request, one)} ${has(request, other)}`))
    t.equal(found.size, 4, `${one} ${other}`)
  }
})

t.test('the same seed makes the same requests', async (t) => {
  const parts = { parameters: [id(), query('a', { type: 'string' })], requestBody: { content: json(plant) } }
  const [one, other] = [requestsOf(parts), requestsOf(parts)]
  const sampled = ({ random, invalid }: typeof one) => [
    random && fc.sample(random, { seed: 5, numRuns: 30 }),
    invalid.map(({ requests }) => fc.sample(requests, { seed: 5, numRuns: 2 })),
  ]
  t.same(sampled(one), sampled(other))
  t.same([one.examples, one.boundaries, one.pairwise], [other.examples, other.boundaries, other.pairwise])
})

t.test('each constraint has a violation, and none that a server may read as a valid value', async (t) => {
  const made = requestsOf({
    parameters: [
      id({ type: 'string' }),
      query('n', int32, { required: true }),
      query('tags', { type: 'array', items: { type: 'string' } }),
      query('flag', { type: 'boolean' }),
    ],
    requestBody: { required: true, content: json(plant) },
  })
  const reasons = reasonsOf(made)
  for (const reason of [
    'query n missing',
    'query n string instead of integer',
    'query n above the greatest',
    'body /name missing',
    'body /name too long',
    'body /name number instead of string',
    'body  a trailing comma',
    'body  a name twice',
    'body  missing',
    'contentType  not declared',
  ])
    t.ok(reasons.includes(reason), reason)
  t.notOk(reasons.some((reason) => reason.startsWith('path id')))
  t.notOk(reasons.some((reason) => reason.startsWith('query tags')))
  t.notOk(reasons.some((reason) => reason.includes('made')))
  const strict = made.invalid.filter(({ violation }) => violation.isStrict).map(({ violation }) => violation.reason)
  for (const reason of ['a name twice', 'not declared', 'no date', 'number instead of string'])
    t.ok(strict.includes(reason), reason)
  for (const reason of ['missing', 'too long', 'a trailing comma']) t.notOk(strict.includes(reason), reason)
  for (const { violation, requests } of made.invalid)
    t.same(fc.sample(requests, { numRuns: 1, seed: 1 })[0]?.violation, violation)
})

t.test('a text that is too long for its schema matches its pattern, so that nothing else is wrong', async (t) => {
  const schema = {
    type: 'object',
    required: ['title'],
    properties: { title: { type: 'string', maxLength: 5, pattern: '^t[0-9]*$' } },
  }
  const { invalid } = requestsOf({ requestBody: { required: true, content: json(schema) }, parameters: [id()] })
  const tooLong = invalid.find(({ violation }) => violation.reason === 'too long')
  for (const request of fc.sample(tooLong?.requests as fc.Arbitrary<TestRequest>, { numRuns: 20, seed: 1 }))
    t.match(JSON.parse(String(textOf(request))).title, /^t[0-9]{5,}$/)
})

t.test('a text without a limit has 1,000 characters once, for the columns of a store', async (t) => {
  const schema = { type: 'object', required: ['title'], properties: { title: { type: 'string' } } }
  const { boundaries } = requestsOf({ requestBody: { required: true, content: json(schema) }, parameters: [id()] })
  t.ok(bodiesOf(boundaries).includes(JSON.stringify({ title: 'a'.repeat(1_000) })))
})

t.test('a response with several media types makes an undeclared Accept a violation', async (t) => {
  const content = { ...json({}), 'text/csv': {} }
  const responses = { 200: { description: 'Plants.', content } }
  t.ok(reasonsOf(requestsOf({ parameters: [id()], responses })).includes('accept  not declared'))
  t.notOk(reasonsOf(requestsOf({ parameters: [id()] })).includes('accept  not declared'))
})

t.test('the hook gives the values of parameters and properties of a name', async (t) => {
  const given: string[] = []
  const values = (name: string) => {
    given.push(name)
    return { id: 42, name: 'Oak' }[name]
  }
  const { boundaries, random, invalid } = requestsOf(
    { parameters: [id()], requestBody: { required: true, content: json(plant) } },
    { values },
  )
  const all = [...boundaries, ...fc.sample(random as fc.Arbitrary<TestRequest>, { numRuns: 20, seed: 1 })]
  t.same([...new Set(targetsOf(all))], ['/v1/plants/42'])
  for (const request of all) t.match(request.values.body?.value, { name: /^Oak$/ })
  t.notOk(invalid.some(({ violation }) => violation.part === 'path'))
  t.ok(given.includes('planted'))
})

t.test('a request is written from given values, also in its base path and with several media types', async (t) => {
  const { document, operation } = documentOf({
    parameters: [id({ type: 'string' }), { name: 'X-Trace', in: 'header', schema: { type: 'string' } }],
    requestBody: { content: { ...json(plant), 'text/plain': {} } },
  })
  const { requestWith } = requestMaker(document)
  const parameters = new Map<string, unknown>([
    ['path id', 'a/b'],
    ['header X-Trace', 'one'],
  ])
  const request = requestWith(operation, { parameters, body: { mediaType: 'text/plain', value: 'Fig' } })
  t.match(request, { method: 'PUT', target: '/v1/plants/a%2Fb', source: 'sequence' })
  t.same(request?.headers, { 'x-trace': 'one', 'content-type': 'text/plain' })
  t.equal(request && textOf(request), 'Fig')
  for (const value of ['', '.', '..', undefined])
    t.equal(requestWith(operation, { parameters: new Map([['path id', value]]), body: undefined }), undefined)
  const other = { parameters: new Map([...parameters, ['header X-Trace', 'a\n']]), body: undefined }
  t.equal(requestWith(operation, other), undefined)
  t.equal(requestWith(operation, { parameters, body: { mediaType: 'image/png', value: 'x' } }), undefined)
})

t.test('a request of one operation is never one of a more specific path', async (t) => {
  const { document, operation } = documentOf(
    { parameters: [id({ enum: ['mine', 'hers'] })] },
    { '/plants/mine': { get: { responses: done } } },
  )
  const { random } = requestMaker(document).requestsOf(operation)
  const targets = new Set(targetsOf(fc.sample(random as fc.Arbitrary<TestRequest>, { numRuns: 30, seed: 1 })))
  t.same([...targets], ['/v1/plants/hers'])
})

t.test(
  'a request has a body where another operation has the same path, since the body may select the operation',
  async (t) => {
    const other = { '/plants/{id}#other': { put: { operationId: 'other', parameters: [id()], responses: done } } }
    const parts = { parameters: [id()], requestBody: { content: json(plant) } }
    const { boundaries, pairwise, invalid } = requestsOf(parts, { isOwn: true }, other)
    for (const request of [...boundaries, ...pairwise]) t.ok(request.body)
    t.notOk(invalid.some(({ violation: { place, reason } }) => place === '' && reason === 'missing'))
  },
)

t.test('a parameter that is also a credential is left to the credentials', async (t) => {
  const key = { name: 'x-key', in: 'header', required: true, schema: { type: 'string' } }
  const { examples, boundaries, invalid } = requestsOf({ parameters: [id(), key], security: [{ key: [] }] })
  t.notOk([...examples, ...boundaries].some(({ headers }) => 'x-key' in headers))
  t.notOk(invalid.some(({ violation }) => violation.part === 'header'))
})

t.test('parts of which no value is made are reported with a reason', async (t) => {
  const never = { type: 'string', not: { type: 'string' } }
  const { random, invalid, unmade } = requestsOf({ parameters: [id(never), query('n', { pattern: '(' })] })
  t.equal(random, undefined)
  t.same(invalid, [])
  t.match(unmade, [
    { part: 'path', place: 'id', reason: /no value found/ },
    { part: 'query', place: 'n' },
  ])
  const optional = requestsOf({ parameters: [id(), query('n', never)] })
  t.ok(optional.random)
  t.equal(optional.unmade.length, 1)
})

t.test('other servers get only files and formats whose content is known', async (t) => {
  const content = { 'image/png': {}, 'application/octet-stream': {}, 'application/xml': {} }
  const parts = { parameters: [id()], requestBody: { required: true, content } }
  const typesOf = ({ random }: ReturnType<typeof requestsOf>) => {
    const requests = fc.sample(random as fc.Arbitrary<TestRequest>, { numRuns: 30, seed: 1 })
    return [...new Set(requests.map(({ headers }) => headers['content-type']))].sort()
  }
  t.same(typesOf(requestsOf(parts)), ['application/octet-stream'])
  t.equal(requestsOf(parts).unmade.length, 2)
  t.same(typesOf(requestsOf(parts, { isOwn: true })), ['application/octet-stream', 'application/xml', 'image/png'])
  const phone = { type: 'object', properties: { phone: { type: 'string', format: 'phone', examples: ['030'] } } }
  const { random } = requestsOf({ parameters: [id()], requestBody: { content: json(phone) } })
  const phones = fc
    .sample(random as fc.Arbitrary<TestRequest>, { numRuns: 40, seed: 1 })
    .flatMap(({ values }) => (values.body?.value as { phone?: string } | undefined)?.phone ?? [])
  t.same([...new Set(phones)], ['030'])
})

t.test(
  'a large form has valid values, and each of its texts is too long once, also beside nested objects',
  async (t) => {
    const names = Array.from({ length: 60 }, (_, index) => `p${index}`)
    const nested = { type: 'object', properties: { note: { type: 'string' } } }
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string', maxLength: 5_000 }]))
    const schema = { type: 'object', properties: { ...properties, nested, list: { type: 'array', items: nested } } }
    const content = { 'application/x-www-form-urlencoded': { schema } }
    const made = requestsOf({ parameters: [id()], requestBody: { required: true, content } }, { isOwn: true })
    t.same(made.unmade, [])
    for (const name of names) t.ok(reasonsOf(made).includes(`body /${name} too long`), name)
  },
)

t.test('a list of files is never sent without a file where the form requires it', async (t) => {
  const files = { type: 'array', items: { type: 'string', contentMediaType: 'application/octet-stream' } }
  const content = { 'multipart/form-data': { schema: { type: 'object', required: ['files'], properties: { files } } } }
  const { boundaries, random } = requestsOf({ parameters: [id()], requestBody: { required: true, content } })
  for (const request of [...boundaries, ...fc.sample(random as fc.Arbitrary<TestRequest>, { numRuns: 30, seed: 1 })])
    t.match(textOf(request), /name="files"/)
})

t.test('names of schemas in examples are none of the document', async (t) => {
  const example = { $id: 'one', name: 'Fig' }
  const content = json({ ...plant, example }, { examples: { a: { value: example } } })
  const { examples, random } = requestsOf({ parameters: [id()], requestBody: { required: true, content } })
  t.ok(bodiesOf(examples).includes(JSON.stringify(example)))
  t.ok(random)
})

t.test('the violations of an operation are made when they are first read, and only once', async (t) => {
  const names: string[] = []
  const values = (name: string) => void names.push(name)
  const { document, operation } = documentOf({ requestBody: { content: json(plant) }, parameters: [id()] })
  const made = requestMaker(document, { values }).requestsOf(operation)
  const before = names.length
  t.ok(made.invalid.length > 0)
  t.ok(names.length > before)
  const after = names.length
  t.equal(made.invalid, made.invalid)
  t.equal(names.length, after)
})

t.test('requests are bounded in number and size, whatever the schemas demand', async (t) => {
  const properties = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`p${index}`, { type: 'string', maxLength: 1_000_000 }]),
  )
  const { boundaries, pairwise, invalid, examples } = requestsOf({
    parameters: [id({ type: 'string', maxLength: 1_000_000 })],
    requestBody: { required: true, content: json({ type: 'object', properties }) },
  })
  t.equal(boundaries.length, 200)
  t.ok(invalid.length <= 300)
  t.ok(pairwise.length <= 40)
  t.ok(examples.length <= 20)
  for (const { body, target } of [...boundaries, ...pairwise]) {
    t.ok((body?.length ?? 0) <= 90_000)
    t.ok(target.length < 200)
  }
})
