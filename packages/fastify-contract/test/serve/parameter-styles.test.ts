import t from 'tap'
import type { Document, Parameter } from '../../src/compile/document/openapi-document.ts'
import type { Schema } from '../../src/serve/schema-keywords.ts'
import { serveDocument } from '../support/serve-document.ts'

const responses = { 200: { description: 'ok', content: { 'application/json': { schema: {} } } } }

/** Returns a function that sends a request to an operation with the parameters and returns the values received. */
async function create(path: string, ...parameters: Parameter[]) {
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

const list = { type: 'array', items: { type: 'string' } }
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
  ['matrix', false, list, ';color=blue,black,brown', colors],
  ['matrix', false, color, ';color=R,100,G,200,B,150', rgb],
  ['matrix', true, { type: 'string' }, ';color=blue', 'blue'],
  ['matrix', true, list, ';color=blue;color=black;color=brown', colors],
  ['matrix', true, list, ';color', ['']],
  ['matrix', true, color, ';R=100;G=200;B=150', rgb],
  ['label', false, { type: 'string' }, '.blue', 'blue'],
  ['label', false, list, '.blue,black,brown', colors],
  ['label', false, color, '.R,100,G,200,B,150', rgb],
  ['label', true, list, '.blue.black.brown', colors],
  ['label', true, color, '.R=100.G=200.B=150', rgb],
  ['simple', false, list, 'blue,black,brown', colors],
  ['simple', false, color, 'R,100,G,200,B,150', rgb],
  ['simple', true, list, 'blue,black,brown', colors],
  ['simple', true, color, 'R=100,G=200,B=150', rgb],
]

const inQuery: Row[] = [
  ['form', false, { type: 'string' }, 'color=', ''],
  ['form', false, { type: 'string' }, 'color=blue', 'blue'],
  ['form', false, list, 'color=blue,black,brown', colors],
  ['form', false, color, 'color=R,100,G,200,B,150', rgb],
  ['form', false, color, 'color=', {}],
  ['form', true, list, 'color=blue&color=black&color=brown', colors],
  ['form', true, color, 'R=100&G=200&B=150', rgb],
  ['spaceDelimited', false, list, 'color=blue%20black%20brown', colors],
  ['spaceDelimited', false, color, 'color=R%20100%20G%20200%20B%20150', rgb],
  ['pipeDelimited', false, list, 'color=blue%7Cblack%7Cbrown', colors],
  ['pipeDelimited', false, color, 'color=R%7C100%7CG%7C200%7CB%7C150', rgb],
  ['deepObject', true, color, 'color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150', rgb],
]

t.test('every style of a path is read as OpenAPI writes it', async (t) => {
  for (const [style, explode, schema, text, color] of inPath) {
    const read = await create('/colors/{color}/shades', { name: 'color', in: 'path', style, explode, schema })
    t.same(await read(`/colors/${text}/shades`), { color }, `${style} ${explode} ${text}`)
    t.same(await read(`/v1/colors/${text}/shades?a/b`), { color }, 'the same below the path of another server')
  }
})

t.test('every style of a query is read as OpenAPI writes it', async (t) => {
  for (const [style, explode, schema, text, color] of inQuery) {
    const read = await create('/colors', { name: 'color', in: 'query', style, explode, schema })
    t.same(await read(`/colors?${text}&other=1`), { color }, `${style} ${explode} ${text}`)
    t.same(await read('/colors?other=1'), {}, 'the parameter is absent')
  }
})

t.test('headers and cookies may hold objects, exploded or not', async (t) => {
  const read = await create(
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
    ['path', 'simple', false, list, 'a%2Cb,%252C,c%2Fd', ['a,b', '%2C', 'c/d']],
    ['path', 'simple', true, free, 'a%3D=b%2Cc,%2C=+', { 'a=': 'b,c', ',': '+' }],
    ['path', 'label', true, list, '.a%2Eb.%C3%A4', ['a.b', 'ä']],
    ['path', 'label', true, free, '.a%2e=%3D', { 'a.': '=' }],
    ['path', 'matrix', true, list, ';c%6Flor=a%3Bb;color=c', ['a;b', 'c']],
    ['path', 'matrix', true, free, ';a%3D=%3B;b;c=d=e', { 'a=': ';', b: '', c: 'd=e' }],
    ['query', 'form', false, list, 'color=a%2Cb,c%26+', ['a,b', 'c& ']],
    ['query', 'form', false, free, 'color=%2C,a%20b', { ',': 'a b' }],
    ['query', 'form', true, free, 'a%3Db=c%26d&=', { 'a=b': 'c&d', '': '' }],
    ['query', 'pipeDelimited', false, list, 'color=a%2Cb|c,d', ['a,b', 'c,d']],
    ['query', 'deepObject', true, free, 'color[a%26]=b%5B+c&color%5B%5D=d', { 'a&': 'b[ c', '': 'd' }],
  ]
  for (const [place, style, explode, schema, text, color] of cases) {
    const read = await create(place === 'path' ? '/a{color}' : '/a', {
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
  const read = await create('/é-report{format}', { name: 'format', in: 'path', style: 'label', schema: list })
  for (const url of ['/%C3%A9-report.a,b', '/%c3%a9%2Dr%65port.a,b', '/v1/%C3%A9-report.a,b']) {
    t.same(await read(url), { format: ['a', 'b'] }, url)
  }
})

t.test('a value that breaks its style is rejected with its name', async (t) => {
  const cases: [place: 'path' | 'query', style: string, explode: boolean, schema: Schema, string, string][] = [
    ['path', 'label', false, list, 'blue', 'path/color must begin with .'],
    ['path', 'matrix', false, list, ';colors=blue', 'path/color must begin with ;color='],
    ['path', 'matrix', false, { type: 'string' }, 'color=blue', 'path/color must begin with ;color='],
    ['path', 'matrix', true, list, ';color=a;colors=b', 'path/color must repeat ;color= before each item'],
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
    const read = await create(place === 'path' ? '/a/{color}' : '/a', {
      name: 'color',
      in: place,
      style,
      explode,
      schema,
    })
    t.match(await read(place === 'path' ? `/a/${text}` : `/a?${text}`), { error: 40003, message }, `${style} ${text}`)
  }
  const read = await create('/a/{color}', { name: 'color', in: 'path', schema: list })
  t.match(await read('/a/%E4,b'), { error: 40001 })
})
