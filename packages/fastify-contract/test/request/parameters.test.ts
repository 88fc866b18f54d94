import type { Document, Parameter } from 'fastify-contract-cli/testing'
import { collectGarbage } from 'fastify-contract-test-support/heap'
import t from 'tap'
import type { SerializedValue } from '../../src/contract/routes.ts'
import type { Schema } from '../../src/contract/schema-keywords.ts'
import { parseQuery } from '../../src/http/request-head.ts'
import { textReader } from '../../src/request/text-reader.ts'
import { serveDocument } from '../support/serve-document.ts'

const text = { type: 'string' }
const int64 = { type: 'integer', format: 'int64' }
const list = { type: 'array', items: text }

/** Creates an app with one operation, which responds with the parameters that its handler receives. */
async function create(path: string, parameters: Parameter[]) {
  const content = { 'application/json': { schema: {} } }
  const responses = { 200: { description: 'ok', content } }
  const document: Document = {
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    paths: { [path]: { get: { operationId: 'read', parameters, responses } } },
    components: { schemas: { List: list, Lists: { $ref: '#/components/schemas/List' } } },
  }
  const read = async ({ body: _, ...parameters }: { body: unknown }) => ({ status: 200, body: parameters })
  const app = await serveDocument(document, { handlers: { read } })
  return async (url: string, headers: Record<string, string> = {}) => (await app.inject({ url, headers })).json()
}

const nothing = { path: {}, query: {}, header: {}, cookie: {} }

t.test('path parameters may have any name and share a segment', async (t) => {
  const read = await create('/plants/{plant-id}/{a.b}.{toString}', [
    { name: 'plant-id', in: 'path', required: true, schema: int64 },
    { name: 'a.b', in: 'path', required: true, schema: text },
    { name: 'toString', in: 'path', required: true, schema: text },
  ])
  t.same(await read('/plants/7/x%20y.z'), { ...nothing, path: { 'plant-id': 7, 'a.b': 'x y', toString: 'z' } })
  t.match(await read('/plants/x/a.b'), { error: 40003, message: 'path/plant-id must be an int64 integer' })
})

t.test('query values are read in the styles of OpenAPI', async (t) => {
  const read = await create('/plants', [
    { name: 'tag', in: 'query', schema: text },
    { name: 'plant-id', in: 'query', schema: int64 },
    { name: 'each', in: 'query', schema: list },
    { name: 'form', in: 'query', explode: false, schema: { $ref: '#/components/schemas/Lists' } },
    { name: 'space', in: 'query', style: 'spaceDelimited', explode: false, schema: list },
    { name: 'pipe', in: 'query', style: 'pipeDelimited', explode: false, schema: list },
  ])
  const cases: [string, object][] = [
    ['', {}],
    ['?', {}],
    ['?other=1&toString=2&__proto__=3&%zz=4&&', {}],
    ['?tag=a+b%2Bc&plant%2Did=7', { tag: 'a b+c', 'plant-id': 7 }],
    ['?tag=', { tag: '' }],
    ['?tag', { tag: '' }],
    ['?tag=a=b', { tag: 'a=b' }],
    ['?each=a&each=b%2Cc', { each: ['a', 'b,c'] }],
    ['?each=a', { each: ['a'] }],
    ['?form=a,b%2Cc', { form: ['a', 'b,c'] }],
    ['?space=a%20b+c', { space: ['a', 'b', 'c'] }],
    ['?pipe=a|b%7Cc', { pipe: ['a', 'b', 'c'] }],
  ]
  for (const [query, expected] of cases) t.same(await read(`/plants${query}`), { ...nothing, query: expected }, query)
  t.match(await read('/plants?tag=a&tag=b'), { error: 40003, message: 'query/tag must be given once' })
  t.match(await read('/plants?tag=%E4'), { error: 40001 })
})

t.test('text is converted to the types of its schema, else stays text', async (t) => {
  const read = await create('/plants', [
    { name: 'null', in: 'query', schema: { type: ['integer', 'null'], format: 'int64' } },
    { name: 'text', in: 'query', schema: { type: ['string', 'null'] } },
    { name: 'mixed', in: 'query', schema: { anyOf: [{ type: 'integer', format: 'int64' }, { type: 'string' }] } },
    { name: 'flag', in: 'query', schema: { enum: [true, 'maybe'] } },
    { name: 'digits', in: 'query', schema: { const: '12' } },
    { name: 'number', in: 'query', schema: { type: 'number' } },
  ])
  const cases: [string, object][] = [
    ['?null=', { null: null }],
    ['?text=', { text: '' }],
    ['?mixed=7', { mixed: 7 }],
    ['?mixed=x', { mixed: 'x' }],
    ['?flag=true', { flag: true }],
    ['?flag=maybe', { flag: 'maybe' }],
    ['?digits=12', { digits: '12' }],
    ['?number=-1.5e1', { number: -15 }],
  ]
  for (const [query, expected] of cases) t.same(await read(`/plants${query}`), { ...nothing, query: expected }, query)
  for (const text of ['0x10', '%201', '01', '1e', 'true', ''])
    t.match(await read(`/plants?number=${text}`), { error: 40003, message: 'query/number must be number' }, text)
})

t.test('header names are case-insensitive, and a cookie value may contain an equals sign', async (t) => {
  const read = await create('/plants', [
    { name: 'X-Trace-Id', in: 'header', required: true, schema: int64 },
    { name: 'X-Tags', in: 'header', schema: list },
    { name: 'session', in: 'cookie', required: true, schema: text },
    { name: 'seen', in: 'cookie', explode: false, schema: list },
  ])
  t.same(await read('/plants', { 'x-trace-id': '7', 'X-TAGS': 'a, b', cookie: 'other=1; session=a=b; seen=x,y' }), {
    ...nothing,
    header: { 'X-Trace-Id': 7, 'X-Tags': ['a', 'b'] },
    cookie: { session: 'a=b', seen: ['x', 'y'] },
  })
  t.match(await read('/plants', { cookie: 'session=a' }), {
    message: "header must have required property 'X-Trace-Id'",
  })
  t.match(await read('/plants', { 'x-trace-id': '7' }), { message: "cookie must have required property 'session'" })
})

t.test('a plus in a cookie stays a plus, and a cookie that cannot be decoded is reported by name', async (t) => {
  const read = await create('/plants', [
    { name: 'a+b', in: 'cookie', schema: text },
    { name: 'seen', in: 'cookie', explode: false, schema: list },
  ])
  t.same(await read('/plants', { cookie: 'a+b=c+d%20e; seen=x+y,z' }), {
    ...nothing,
    cookie: { 'a+b': 'c+d e', seen: ['x+y', 'z'] },
  })
  const message = 'cookie/a+b is not percent-encoded UTF-8'
  t.match(await read('/plants', { cookie: 'a+b=%E4' }), { error: 40003, message })
  t.same(await read('/plants', { cookie: 'a+b=%zz' }), { ...nothing, cookie: { 'a+b': '%zz' } })
  t.match(await read('/plants', { cookie: 'a+b=%zz%20' }), { error: 40003, message })
  t.same(await read('/plants', { cookie: '%zz=1; seen=%2C' }), { ...nothing, cookie: { seen: [','] } })
})

t.test('of two cookies of one name the first counts, unless they are items of a list', async (t) => {
  const read = await create('/plants', [
    { name: 'sid', in: 'cookie', schema: text },
    { name: 'ids', in: 'cookie', schema: { type: 'array', items: int64 } },
    { name: 'seen', in: 'cookie', explode: false, schema: list },
    { name: 'filter', in: 'cookie', content: { 'application/json': { schema: {} } } },
    { name: 'color', in: 'cookie', schema: { type: 'object', properties: { R: { type: 'integer' } } } },
  ])
  const cases: [string, object][] = [
    ['sid=a; sid=b', { sid: 'a' }],
    ['sid=; sid=b', { sid: '' }],
    ['ids=1; ids=2', { ids: [1, 2] }],
    ['seen=a,b; seen=c', { seen: ['a', 'b'] }],
    ['filter={"a":1}; filter=2', { filter: { a: 1 } }],
    ['R=1; R=2', { color: { R: 1 } }],
  ]
  for (const [cookie, expected] of cases)
    t.same(await read('/plants', { cookie }), { ...nothing, cookie: expected }, cookie)
})

t.test('quotes around a cookie are no part of its value, except in JSON', async (t) => {
  const read = await create('/plants', [
    { name: 'sid', in: 'cookie', schema: text },
    { name: 'id', in: 'cookie', schema: int64 },
    { name: 'seen', in: 'cookie', explode: false, schema: list },
    { name: 'json', in: 'cookie', content: { 'application/json': { schema: {} } } },
  ])
  const cases: [string, object][] = [
    ['sid="a b"', { sid: 'a b' }],
    ['sid=""', { sid: '' }],
    ['id="7"', { id: 7 }],
    ['seen="a,b"', { seen: ['a', 'b'] }],
    ['sid=%22a%22', { sid: '"a"' }],
    ['sid="a', { sid: '"a' }],
    ['sid="a"b"', { sid: '"a"b"' }],
    ['json="a"', { json: 'a' }],
  ]
  for (const [cookie, expected] of cases)
    t.same(await read('/plants', { cookie }), { ...nothing, cookie: expected }, cookie)
})

const responses = { 200: { description: 'ok', content: { 'application/json': { schema: {} } } } }

/** Returns a function that sends a request to an operation with the parameters and returns the values received. */
async function createStyled(path: string, ...parameters: Parameter[]) {
  const document: Document = {
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    servers: [{ url: '/' }, { url: '/v1/' }],
    paths: { [path]: { get: { operationId: 'read', parameters, responses } } },
  }
  const read = async ({ path, query, header, cookie }: Record<string, object>) => ({
    status: 200,
    body: { ...path, ...query, ...header, ...cookie },
  })
  const app = await serveDocument(document, { handlers: { read } })
  return async (url: string, headers: Record<string, string> = {}) => (await app.inject({ url, headers })).json()
}

const texts = { type: 'array', items: { type: 'string' } }
const integer = { type: 'integer' }
const properties = { R: integer, G: integer, B: integer }
const color = { type: 'object', properties }
const rgb = { R: 100, G: 200, B: 150 }
const colors = ['blue', 'black', 'brown']

type Row = [style: string, explode: boolean, schema: Schema, text: string, value: unknown]

// The style examples of OpenAPI 3.1.1, section 4.8.12.6.
const inPath: Row[] = [
  ['matrix', false, { type: 'string' }, ';color', ''],
  ['matrix', false, { type: 'string' }, ';color=', ''],
  ['matrix', false, { type: 'string' }, ';color=blue', 'blue'],
  ['matrix', false, texts, ';color=blue,black,brown', colors],
  ['matrix', false, color, ';color=R,100,G,200,B,150', rgb],
  ['matrix', true, { type: 'string' }, ';color=blue', 'blue'],
  ['matrix', true, texts, ';color=blue;color=black;color=brown', colors],
  ['matrix', true, texts, ';color', ['']],
  ['matrix', true, color, ';R=100;G=200;B=150', rgb],
  ['label', false, { type: 'string' }, '.blue', 'blue'],
  ['label', false, texts, '.blue,black,brown', colors],
  ['label', false, color, '.R,100,G,200,B,150', rgb],
  ['label', true, texts, '.blue.black.brown', colors],
  ['label', true, color, '.R=100.G=200.B=150', rgb],
  ['simple', false, texts, 'blue,black,brown', colors],
  ['simple', false, color, 'R,100,G,200,B,150', rgb],
  ['simple', true, texts, 'blue,black,brown', colors],
  ['simple', true, color, 'R=100,G=200,B=150', rgb],
]

const inQuery: Row[] = [
  ['form', false, { type: 'string' }, 'color=', ''],
  ['form', false, { type: 'string' }, 'color=blue', 'blue'],
  ['form', false, texts, 'color=blue,black,brown', colors],
  ['form', false, color, 'color=R,100,G,200,B,150', rgb],
  ['form', false, color, 'color=', {}],
  ['form', true, texts, 'color=blue&color=black&color=brown', colors],
  ['form', true, color, 'R=100&G=200&B=150', rgb],
  ['spaceDelimited', false, texts, 'color=blue%20black%20brown', colors],
  ['spaceDelimited', false, color, 'color=R%20100%20G%20200%20B%20150', rgb],
  ['pipeDelimited', false, texts, 'color=blue%7Cblack%7Cbrown', colors],
  ['pipeDelimited', false, color, 'color=R%7C100%7CG%7C200%7CB%7C150', rgb],
  ['deepObject', true, color, 'color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150', rgb],
]

t.test('every style of a path is read as OpenAPI writes it', async (t) => {
  for (const [style, explode, schema, text, color] of inPath) {
    const read = await createStyled('/colors/{color}/shades', { name: 'color', in: 'path', style, explode, schema })
    t.same(await read(`/colors/${text}/shades`), { color }, `${style} ${explode} ${text}`)
    t.same(await read(`/v1/colors/${text}/shades?a/b`), { color }, 'the same below the path of another server')
  }
})

t.test('every style of a query is read as OpenAPI writes it', async (t) => {
  for (const [style, explode, schema, text, color] of inQuery) {
    const read = await createStyled('/colors', { name: 'color', in: 'query', style, explode, schema })
    t.same(await read(`/colors?${text}&other=1`), { color }, `${style} ${explode} ${text}`)
    t.same(await read('/colors?other=1'), {}, 'the parameter is absent')
  }
})

t.test('headers and cookies may hold objects, exploded or not', async (t) => {
  const read = await createStyled(
    '/colors',
    { name: 'X-Color', in: 'header', schema: color },
    { name: 'X-Exploded', in: 'header', explode: true, schema: color },
    { name: 'color', in: 'cookie', explode: false, schema: color },
    { name: 'exploded', in: 'cookie', schema: color },
  )
  t.same(await read('/colors', { 'x-color': 'R, 100, G,200', 'x-exploded': 'R=100 , B=150' }), {
    'X-Color': { R: 100, G: 200 },
    'X-Exploded': { R: 100, B: 150 },
  })
  t.same(await read('/colors', { cookie: 'color=R,1; G=2; B=3; other=4' }), {
    color: { R: 1 },
    exploded: { G: 2, B: 3 },
  })
})

t.test('a percent-encoded delimiter is data, in paths and queries', async (t) => {
  const free = { type: 'object', additionalProperties: { type: 'string' } }
  const cases: [place: 'path' | 'query', style: string, explode: boolean, schema: Schema, string, unknown][] = [
    ['path', 'simple', false, texts, 'a%2Cb,%252C,c%2Fd', ['a,b', '%2C', 'c/d']],
    ['path', 'simple', true, free, 'a%3D=b%2Cc,%2C=+', { 'a=': 'b,c', ',': '+' }],
    ['path', 'label', true, texts, '.a%2Eb.%C3%A4', ['a.b', 'ä']],
    ['path', 'label', true, free, '.a%2e=%3D', { 'a.': '=' }],
    ['path', 'matrix', true, texts, ';c%6Flor=a%3Bb;color=c', ['a;b', 'c']],
    ['path', 'matrix', true, free, ';a%3D=%3B;b;c=d=e', { 'a=': ';', b: '', c: 'd=e' }],
    ['query', 'form', false, texts, 'color=a%2Cb,c%26+', ['a,b', 'c& ']],
    ['query', 'form', false, free, 'color=%2C,a%20b', { ',': 'a b' }],
    ['query', 'form', true, free, 'a%3Db=c%26d&=', { 'a=b': 'c&d', '': '' }],
    ['query', 'pipeDelimited', false, texts, 'color=a%2Cb|c,d', ['a,b', 'c,d']],
    ['query', 'deepObject', true, free, 'color[a%26]=b%5B+c&color%5B%5D=d', { 'a&': 'b[ c', '': 'd' }],
  ]
  for (const [place, style, explode, schema, text, color] of cases) {
    const read = await createStyled(place === 'path' ? '/a{color}' : '/a', {
      name: 'color',
      in: place,
      style,
      explode,
      schema,
    })
    t.same(await read(place === 'path' ? `/a${text}` : `/a?${text}`), { color }, `${style} ${explode} ${text}`)
  }
})

t.test('a list parameter may follow other characters of its segment', async (t) => {
  const read = await createStyled('/é-report{format}', { name: 'format', in: 'path', style: 'label', schema: texts })
  for (const url of ['/%C3%A9-report.a,b', '/%c3%a9%2Dr%65port.a,b', '/v1/%C3%A9-report.a,b'])
    t.same(await read(url), { format: ['a', 'b'] }, url)
})

t.test('a value that breaks its style is rejected with its name', async (t) => {
  const cases: [place: 'path' | 'query', style: string, explode: boolean, schema: Schema, string, string][] = [
    ['path', 'label', false, texts, 'blue', 'path/color must begin with .'],
    ['path', 'matrix', false, texts, ';colors=blue', 'path/color must begin with ;color='],
    ['path', 'matrix', false, { type: 'string' }, 'color=blue', 'path/color must begin with ;color='],
    ['path', 'matrix', true, texts, ';color=a;colors=b', 'path/color must repeat ;color= before each item'],
    ['path', 'matrix', true, color, 'R=1', 'path/color must begin with ;'],
    ['path', 'simple', true, color, 'R,1', 'path/color must consist of NAME=VALUE parts'],
    ['path', 'simple', false, color, 'R,1,G', 'path/color must alternate names and values'],
    ['path', 'simple', false, color, 'R,1,R,2', 'path/color must have R only once'],
    ['path', 'simple', false, color, 'R,1.5', 'path/color/R must be integer'],
    ['query', 'form', false, color, 'color=R,1&color=G,2', 'query/color must be given once'],
    ['query', 'form', true, color, 'R=1&R=2', 'query/color must have R only once'],
    ['query', 'form', true, color, 'R=x', 'query/color/R must be integer'],
    ['query', 'deepObject', true, color, 'color[R]=1&color%5BR%5D=2', 'query/color must have R only once'],
    ['query', 'deepObject', true, color, 'color[R][x]=1', 'query/color/R must be integer'],
    [
      'query',
      'deepObject',
      true,
      { ...color, additionalProperties: false },
      'color[X]=1',
      'query/color must NOT have additional properties',
    ],
  ]
  for (const [place, style, explode, schema, text, message] of cases) {
    const read = await createStyled(place === 'path' ? '/a/{color}' : '/a', {
      name: 'color',
      in: place,
      style,
      explode,
      schema,
    })
    t.match(await read(place === 'path' ? `/a/${text}` : `/a?${text}`), { error: 40003, message }, `${style} ${text}`)
  }
  const read = await createStyled('/a/{color}', { name: 'color', in: 'path', schema: texts })
  t.match(await read('/a/%E4,b'), { error: 40001 })
})

const source = { part: 'form', decode: decodeURIComponent }
const value = (more: Partial<SerializedValue>): SerializedValue => ({
  name: 'a',
  key: 'a',
  kind: 'scalar',
  style: 'form',
  explode: true,
  types: ['string'],
  ...more,
})

const integerPlace = { types: ['integer'] }

t.test('name-value pairs of every source are converted alike', async (t) => {
  const read = textReader(
    [
      value({ name: 'id', key: 'id', types: ['integer'] }),
      value({ name: 'list', key: 'list', kind: 'array' }),
      value({ kind: 'nested', style: 'deepObject', places: [{ types: ['object'], members: { n: 1 } }, integerPlace] }),
    ],
    source,
  )
  const { value: values, exactNumbers } = read(parseQuery('id=9007199254740993&list=x&list=y&a[n]=1&a[m]=2'))
  t.same(values, { id: 2 ** 53, list: ['x', 'y'], a: { n: 1, m: '2' } })
  t.equal(exactNumbers?.get(values as object)?.get('id'), '9007199254740993')
  t.same(read({}).value, {})
  t.throws(() => read({ id: ['1', '2'] }), { message: 'form/id must be given once', kind: 'invalid' })
})

t.test('an exploded object that accepts any name takes those that no other value has', async (t) => {
  const read = textReader(
    [
      value({ name: 'others', key: 'others', kind: 'object', acceptsAnyName: true, properties: { size: ['integer'] } }),
      value({ name: 'id', key: 'id' }),
      value({ name: 'range', key: 'range', kind: 'object', properties: { low: ['integer'] } }),
      value({ kind: 'nested', style: 'deepObject', places: [{ types: ['object'] }] }),
    ],
    source,
  )
  const { value: values } = read(parseQuery('id=1&size=2&low=3&a[n]=4&b=5&others=6'))
  t.same(values, { others: { size: 2, b: '5', others: '6' }, id: '1', range: { low: 3 }, a: { n: '4' } })
  t.same(read(parseQuery('id=1')).value, { id: '1' })
})

t.test('inherited property names are ordinary names', async (t) => {
  const inherited = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '0']
  const named = Object.fromEntries(inherited.map((name) => [name, ['integer']]))
  const forms: [Partial<SerializedValue>, (name: string) => string][] = [
    [{ kind: 'nested', places: [{ types: ['object'], others: 1 }, integerPlace] }, (name) => `a[${name}]=1`],
    [
      {
        kind: 'nested',
        places: [{ types: ['object'], members: Object.fromEntries(inherited.map((name) => [name, 1])) }, integerPlace],
      },
      (name) => `a[${name}]=1`,
    ],
    [{ explode: false }, (name) => `a=${name},1`],
    [{ acceptsAnyName: true }, (name) => `${name}=1`],
    [{ properties: named }, (name) => `${name}=1`],
  ]
  for (const [more, write] of forms) {
    const read = textReader([value({ kind: 'object', types: ['integer'], ...more })], source)
    t.same(read({}).value, {}, 'an inherited name is absent unless the request has it')
    for (const name of inherited) {
      const { a } = read(parseQuery(write(name))).value as { a: object }
      t.equal(JSON.stringify(a), `{"${name}":1}`, write(name))
      t.equal(Object.getPrototypeOf(a), Object.prototype)
    }
  }
  for (const name of inherited) {
    const read = textReader([value({ name, key: name, default: '"none"' })], source)
    t.equal(JSON.stringify(read({}).value), `{"${name}":"none"}`)
    t.equal(JSON.stringify(read(parseQuery(`${name}=1`)).value), `{"${name}":"1"}`)
  }
})

t.test('every request gets its own copy of a default', async (t) => {
  const read = textReader(
    [value({ kind: 'array', default: '[{"n":1}]' }), value({ name: 'b', key: 'b', default: 'null' })],
    source,
  )
  const first = read({}).value as { a: { n: number }[] }
  first.a[0] = { n: 2 }
  t.same(read({}).value, { a: [{ n: 1 }], b: null })
})

t.test('the digits of a JSON number are kept', async (t) => {
  const read = textReader([value({ kind: 'json' })], source)
  const { value: values, exactNumbers } = read({ a: '{"b":[9007199254740993]}' }) as {
    value: { a: { b: number[] } }
    exactNumbers: Map<object, Map<unknown, string>>
  }
  t.equal(exactNumbers.get(values.a.b)?.get(0), '9007199254740993')
  t.same(read({}).value, {})
  const root = read({ a: '9007199254740993' })
  t.equal(root.exactNumbers?.get(root.value as object)?.get('a'), '9007199254740993')
  t.throws(() => read({ a: '[' }), { message: 'form/a cannot be parsed as JSON: unexpected end at character 1' })
})

t.test('text of 250 KB is converted within 10 s and holds less than 100 bytes of memory per byte', async (t) => {
  const numbers = Array.from({ length: 32_000 }, (_, index) => index.toString(36))
  const texts: [Partial<SerializedValue>, string | Record<string, string[]>][] = [
    [{ kind: 'array', explode: false }, ','.repeat(250_000)],
    [{ kind: 'array', style: 'spaceDelimited', explode: false }, '+%20'.repeat(62_500)],
    [{ kind: 'array', style: 'label' }, '.'.repeat(250_000)],
    [{ kind: 'array', style: 'matrix' }, ';a'.repeat(125_000)],
    [{ kind: 'object', style: 'matrix' }, numbers.map((name) => `;${name}=1`).join('')],
    [{ kind: 'object', explode: false }, numbers.map((name) => `${name},1`).join(',')],
    [{ kind: 'nested', places: [] }, Object.fromEntries(numbers.map((name) => [`a[${name}]`, ['1']]))],
  ]
  for (const [more, text] of texts) {
    const read = textReader([value({ types: ['integer'], ...more })], source)
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    const start = performance.now()
    const { value: values } = read(typeof text === 'string' ? { a: text } : text) as { value: { a: object } }
    const name = `${more.kind} ${more.style ?? 'form'}, ${Object.keys(values.a).length} parts`
    t.ok(performance.now() - start < 10_000, name)
    collectGarbage()
    t.ok(process.memoryUsage().heapUsed - before < 25_000_000, name)
  }
})
