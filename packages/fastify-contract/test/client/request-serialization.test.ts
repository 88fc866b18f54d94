import { callStyles, type Document, normalizedDocument } from 'fastify-contract-cli/testing'
import t from 'tap'
import { type ClientOptions, exactClient } from '../../src/client/exact-client.ts'
import { expandPath, pairText, parameterPairs, sentBody } from '../../src/client/request-serialization.ts'
import type { AnyHandler } from '../../src/routes/request-steps.ts'
import { serveDocument } from '../support/serve-document.ts'

const int64 = { type: 'integer', format: 'int64' }
const string = { type: 'string' }
const plant = {
  type: 'object',
  properties: {
    id: int64,
    name: string,
    tags: { type: 'array', items: string },
    sizes: { type: 'array', items: int64 },
    place: { type: 'object', properties: { bed: int64 } },
    soil: { type: 'object', properties: { ph: int64 } },
    notes: { type: 'array', items: { type: 'object', properties: { at: int64 } } },
    nothing: { type: 'null' },
    page: string,
    facts: { type: 'object', properties: { of: int64 } },
  },
}
const encoding = {
  sizes: { style: 'pipeDelimited', explode: false },
  soil: { style: 'deepObject' },
  notes: { contentType: 'application/json' },
}
const document = {
  openapi: '3.1.0',
  info: { title: 'Bodies', version: '1' },
  paths: {
    '/plants': {
      post: {
        operationId: 'a',
        requestBody: {
          content: {
            'application/json': { schema: plant },
            'application/vnd.plant+json': { schema: plant },
            'application/x-www-form-urlencoded': { schema: plant, encoding },
            'multipart/form-data': {
              schema: {
                type: 'object',
                properties: { ...plant.properties, file: {}, files: { type: 'array', items: {} } },
              },
              encoding: {
                notes: { contentType: 'application/json' },
                page: { contentType: 'text/html; charset=utf-8, text/markdown' },
                facts: { contentType: 'Application/vnd.facts+json' },
              },
            },
            'text/plain': { schema: string },
            'image/*': {},
          },
        },
        responses: { 200: { content: { 'application/json': {} } } },
      },
    },
  },
} as unknown as Document

type Plant = {
  id?: bigint
  name?: string
  tags?: string[]
  sizes?: bigint[]
  place?: { bed?: bigint }
  soil?: { ph?: bigint }
  notes?: { at?: bigint }[]
  nothing?: null
  page?: string
  facts?: { of?: bigint }
}
type Bodies = {
  'application/json': Plant
  'application/vnd.plant+json': Plant
  'application/x-www-form-urlencoded': Plant
  'multipart/form-data': Plant & { file?: Blob; files?: Blob[] }
  'text/plain': string
  'image/*': unknown
}
type Reply = { headers: Record<string, unknown>; content: { 'application/json': unknown } }
type Paths = { '/plants': { post: { requestBody?: { content: Bodies }; responses: { 200: Reply } } } }

/** Responds with the body and the content type that the service's handler receives. */
const echo = async ({ body, contentType }: { body: unknown; contentType: string }) => {
  const isParts = typeof body === 'object' && body !== null && Symbol.asyncIterator in body
  const read = isParts ? await collected(body as AsyncIterable<unknown>) : body
  return { status: 200, body: [contentType ?? null, read ?? null] }
}

async function collected(parts: AsyncIterable<unknown>): Promise<unknown> {
  const read: unknown[] = []
  for await (const part of parts) {
    if (part instanceof Uint8Array) read.push(Buffer.from(part).toString())
    else {
      const { name, value, filename, stream } = part as Record<string, unknown>
      read.push([name, stream === undefined ? value : [filename, await collected(stream as AsyncIterable<unknown>)]])
    }
  }
  return read
}

const app = await serveDocument(document, { handlers: { a: echo as unknown as AnyHandler } })
const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 })
t.teardown(() => app.close())
const table = { parameters: callStyles(normalizedDocument(document)) }
const client = exactClient<Paths>(table, { baseUrl } satisfies ClientOptions)

/** Returns the data of a successful response, otherwise the status and the error. */
const sent = async (call: Promise<{ response: Response; data?: unknown; error?: unknown }>) => {
  const { data, error, response } = await call
  return response.ok ? data : [response.status, error]
}

const large = 9007199254740991n
const all: Plant = {
  id: large,
  name: 'a b&c=ä',
  tags: ['x,y', ''],
  sizes: [1n, large],
  place: { bed: large },
  soil: { ph: 7n },
  notes: [{ at: large }],
  nothing: null,
}
const shown = JSON.parse(JSON.stringify(all, (_key, value) => (typeof value === 'bigint' ? Number(value) : value)))

t.test('a call sends a body in each media type of its operation, and the service reads the same', async (t) => {
  const post = client.POST
  t.same(await sent(post('/plants')), [null, null])
  t.same(await sent(post('/plants', { body: all })), ['application/json', shown])
  for (const contentType of ['application/vnd.plant+json', 'application/x-www-form-urlencoded'] as const)
    t.same(await sent(post('/plants', { contentType, body: all })), [contentType, shown])
  const { name, ...others } = all
  const file = new Blob(['a'], { type: 'image/png' })
  const body = { ...others, file, files: [new File(['b'], 'b.png'), file] }
  t.same(await sent(post('/plants', { contentType: 'multipart/form-data', body })), [
    'multipart/form-data',
    [
      ['id', Number(large)],
      ['tags', 'x,y'],
      ['tags', ''],
      ['sizes', 1],
      ['sizes', Number(large)],
      ['place', shown.place],
      ['soil', shown.soil],
      ['notes', shown.notes[0]],
      ['nothing', null],
      ['file', ['blob', ['a']]],
      ['files', ['b.png', ['b']]],
      ['files', ['blob', ['a']]],
    ],
  ])
  t.same(await sent(post('/plants', { contentType: 'text/plain', body: 'a\nä' })), ['text/plain', 'a\nä'])
  const bytes = new TextEncoder().encode('bytes')
  for (const body of [bytes, bytes.buffer as ArrayBuffer, new Blob([bytes]), new Blob([bytes]).stream()])
    t.same(await sent(post('/plants', { contentType: 'image/png', body })), ['image/png', ['bytes']])
})

t.test('each form part has the media type of its encoding and keeps its line breaks', async (t) => {
  const contentType = 'multipart/form-data'
  const text = 'a\nb\r\nc\rd'
  const body = { name: text, page: `<p>${text}`, facts: { of: large }, tags: ['x', undefined as never, text] }
  t.same(await sent(client.POST('/plants', { contentType, body })), [
    contentType,
    [
      ['name', text],
      ['page', `<p>${text}`],
      ['facts', { of: Number(large) }],
      ['tags', 'x'],
      ['tags', text],
    ],
  ])
})

t.test('a field that its style cannot represent is rejected before anything is sent', async (t) => {
  const wrong = { soil: { 'a[b]': 1n } } as Plant
  const call = client.POST('/plants', { contentType: 'application/x-www-form-urlencoded', body: wrong })
  await t.rejects(call, new TypeError('body/soil: the name of a property cannot contain a bracket'))
})

t.test('a body of another media type does not compile', async (t) => {
  const calls = () => [
    // @ts-expect-error
    client.POST('/plants', { contentType: 'text/plain', body: all }),
    // @ts-expect-error
    client.POST('/plants', { body: 'text' }),
    // @ts-expect-error
    client.POST('/plants', { contentType: 'multipart/form-data', body: { file: 'text' } }),
    // @ts-expect-error
    client.POST('/plants', { contentType: 'image/png', body: 1 }),
  ]
  t.type(calls, 'function')
})

t.test('a list of items is sent as JSON Lines, which the service reads one by one', async (t) => {
  const contentType = 'application/x-ndjson'
  const lines = {
    ...document,
    paths: {
      '/lines': {
        post: {
          operationId: 'a',
          requestBody: { required: true, content: { [contentType]: { schema: { type: 'array', items: plant } } } },
          responses: { 200: { content: { 'application/json': {} } } },
        },
      },
    },
  }
  const read = async ({ body }: { body: AsyncIterable<Plant> }) => {
    const items: unknown[] = []
    for await (const item of body) items.push(item)
    return { status: 200, body: items }
  }
  const app = await serveDocument(lines, { handlers: { a: read as unknown as AnyHandler } })
  t.teardown(() => app.close())
  const { POST } = exactClient<{
    '/lines': {
      post: {
        kinds: { [contentType]: 'lines' }
        requestBody: { content: { [contentType]: Plant } }
        responses: { 200: Reply }
      }
    }
  }>({}, { baseUrl: await app.listen({ host: '127.0.0.1', port: 0 }) })
  const send = (body: Plant[] | string) => sent(POST('/lines', { contentType, body }))
  t.same(await send([{ id: 1n, name: 'a\nb' }, { tags: ['c'] }]), [{ id: 1, name: 'a\nb' }, { tags: ['c'] }])
  t.same(await send([]), [])
  t.same(await send('{"id":2}'), [{ id: 2 }])
  t.match(await send([{ id: 2n ** 63n }]), [400, { message: 'line 1: body/id must be an int64 integer' }])
})

const text = (more: Partial<Parameters<typeof parameterPairs>[0]>, value: unknown) =>
  parameterPairs({ name: 'a b', in: 'query', ...more }, value)
    .map(pairText)
    .join('&')

t.test('an array is repeated in a query or in cookies, or joined by the delimiter of its style', async (t) => {
  const value = ['x,y', 2n ** 63n - 1n, true]
  t.equal(text({}, value), 'a%20b=x%2Cy&a%20b=9223372036854775807&a%20b=true')
  t.equal(text({ explode: false }, value), 'a%20b=x%2Cy,9223372036854775807,true')
  t.equal(text({ style: 'spaceDelimited' }, value), 'a%20b=x%2Cy%209223372036854775807%20true')
  t.equal(text({ style: 'pipeDelimited' }, value), 'a%20b=x%2Cy%7C9223372036854775807%7Ctrue')
  t.equal(text({ in: 'cookie' }, value), 'a%20b=x%2Cy&a%20b=9223372036854775807&a%20b=true')
  t.equal(text({ in: 'cookie', explode: false }, value), 'a%20b=x%2Cy,9223372036854775807,true')
  t.equal(text({}, []), '')
  t.equal(text({ explode: false }, []), '')
  t.equal(text({ explode: false }, {}), 'a%20b=')
})

t.test('a header is sent as it is', async (t) => {
  t.same(parameterPairs({ name: 'X-Tags', in: 'header' }, ['é', 'b c']), [['X-Tags', 'é,b c']])
})

t.test('a record separator begins each item of a JSON text sequence', async (t) => {
  t.equal(
    sentBody([{ id: 2n ** 63n - 1n }, 'a\nb'], 'application/json-seq').body,
    '\x1e{"id":9223372036854775807}\n\x1e"a\\nb"\n',
  )
})

t.test('a path is filled with encoded values', async (t) => {
  const pairs = parameterPairs({ name: 'id', in: 'path' }, '$&/ä')
  t.equal(expandPath('/plants/{id}/photo', pairs), '/plants/%24%26%2F%C3%A4/photo')
  // The pairs of its query are parameters, and its fragment is not sent.
  t.equal(expandPath('/plants/{id}?op=list&after={after}#x', pairs), '/plants/%24%26%2F%C3%A4')
})

t.test('an object is written in the style of its parameter', async (t) => {
  const value = { R: 1, 'a,b': 'c=d', '[]': '.', gone: undefined }
  t.equal(text({}, value), 'R=1&a%2Cb=c%3Dd&%5B%5D=.')
  t.equal(text({ explode: false }, value), 'a%20b=R,1,a%2Cb,c%3Dd,%5B%5D,.')
  t.equal(text({ style: 'deepObject' }, { R: 1, G: null }), 'a%20b%5BR%5D=1&a%20b%5BG%5D=')
  t.equal(text({ isJson: true }, { R: 2n ** 63n }), 'a%20b=%7B%22R%22%3A9223372036854775808%7D')
  const inPath = (style: string, explode: boolean, value: unknown) =>
    expandPath('{c}', parameterPairs({ in: 'path', name: 'c', style, explode }, value))
  t.equal(inPath('label', true, { a: 'b.c' }), '.a=b%2Ec')
  t.equal(inPath('label', false, ['b.c', 'd']), '.b.c,d')
  t.equal(inPath('matrix', true, { a: 'b', c: '' }), ';a=b;c=')
  t.equal(inPath('matrix', true, ['b', 'c']), ';c=b;c=c')
  t.equal(inPath('matrix', false, { a: 'b' }), ';c=a,b')
  t.equal(inPath('simple', true, { a: 'b', c: 'd' }), 'a=b,c=d')
})

t.test('JSON in a header has characters of ASCII alone', async (t) => {
  const pair = parameterPairs({ in: 'header', name: 'X-A', isJson: true }, { ä: '𝒳' })
  t.same(pair, [['X-A', '{"\\u00e4":"\\ud835\\udcb3"}']])
  t.same(JSON.parse(pair[0]?.[1] ?? ''), { ä: '𝒳' })
})

t.test('a value that its style cannot represent is rejected', async (t) => {
  const problems = (parameter: Partial<Parameters<typeof parameterPairs>[0]>, value: unknown): string[] => {
    const found: string[] = []
    parameterPairs({ name: 'a', in: 'query', ...parameter }, value, (problem) => found.push(problem))
    return found
  }
  t.same(problems({ style: 'spaceDelimited' }, ['a b']), ['its parts cannot contain " "'])
  t.same(problems({ style: 'pipeDelimited' }, { a: 'b|c' }), ['its parts cannot contain "|"'])
  t.same(problems({ style: 'deepObject' }, { 'a[': 1 }), ['the name of a property cannot contain a bracket'])
  t.same(problems({ in: 'header' }, ['a,b']), ['its parts cannot contain ","'])
  t.same(problems({ in: 'header' }, ' a'), ['a header value cannot begin or end with white space'])
  t.same(problems({ in: 'header', explode: true }, { 'a=': 1 }), ['the name of a property cannot contain "="'])
  t.same(problems({ in: 'path' }, []), ['a path cannot contain an empty array'])
  t.same(problems({ in: 'path' }, {}), ['a path cannot contain an empty object'])
  t.same(problems({ in: 'header' }, []), [])
  const lone = 'cannot contain a lone surrogate'
  t.same(problems({}, 'a\udc00'), [lone])
  t.same(problems({}, ['𝒳', '\ud800', '\ud800']), [lone, lone])
  t.same(problems({ isJson: true }, '\ud800'), [], 'JSON escapes it')
  t.equal(text({}, '\ud800'), 'a%20b=%EF%BF%BD')
  t.throws(() => text({}, { '\ud800': 1 }), { name: 'TypeError', message: `"\\ud800" ${lone}` })
  t.equal(
    text({ style: 'pipeDelimited' }, ['a|b', 'c']),
    'a%20b=a%7Cb%7Cc',
    'a value that no style can hold is written',
  )
})

t.test('a parameter may be the whole query string', async (t) => {
  const written = (style: object, value: unknown) =>
    parameterPairs({ in: 'query', name: 'criteria', isWhole: true, ...style }, value, (problem) => {
      throw new TypeError(problem)
    })
      .map(pairText)
      .join('&')
  const fields = { near: { style: 'deepObject' }, sizes: { explode: false } }
  t.equal(
    written({ fields }, { id: 2n ** 63n, tags: ['a', 'b& c'], sizes: [1, 2], near: { at: [1.5] }, raw: { id: 1n } }),
    'id=9223372036854775808&tags=a&tags=b%26%20c&sizes=1,2&near%5Bat%5D%5B0%5D=1.5&raw=%7B%22id%22%3A1%7D',
  )
  t.equal(written({ isJson: true }, [{ id: 2n ** 63n }]), '%5B%7B%22id%22%3A9223372036854775808%7D%5D')
  t.equal(written({}, '[9223372036854775808]'), '%5B9223372036854775808%5D', 'a JSON text stays as it is')
  t.throws(() => written({ fields }, { near: { 'a]': 1 } }), {
    message: 'query/criteria/near: the name of a property cannot contain a bracket',
  })
})
