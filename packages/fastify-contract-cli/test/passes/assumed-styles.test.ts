import { exactClient } from 'fastify-contract/client'
import t from 'tap'
import { callStyles } from '../../src/document/call-styles.ts'
import type { Document } from '../../src/document/openapi-document.ts'
import { withPublishedStyles } from '../../src/passes/assumed-styles.ts'
import { normalizedDocument } from '../../src/passes/normalize.ts'
import { checkDocument } from '../../src/rules/check-document.ts'
import { serveDocument } from '../support/serve-document.ts'

const integer = { type: 'integer' }
const integers = { type: 'array', items: integer }
const strings = { type: 'array', items: { type: 'string' } }
const point = { type: 'object', properties: { x: integer, y: integer } }
const either = { oneOf: [integer, integers] }

type Given = { in: string; style: string; explode?: boolean; schema: object }

function documentOf(parameter: Given): Document {
  const path = parameter.in === 'path' ? '/a/{p}' : '/a'
  const responses = { 200: { description: 'ok', content: { 'application/json': { schema: {} } } } }
  const parameters = [{ name: 'p', required: parameter.in === 'path', ...parameter }]
  return {
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    paths: { [path]: { get: { operationId: 'read', parameters, responses } } },
  }
}

/** What a style is read as, and requests with the value that the handler gets. */
type Case = [Given, advice: string, requests: [url: string, value: unknown, headers?: Record<string, string>][]]

const oneStyle = (style: string, place: string, read: string) =>
  `style ${style} is not defined for a single value in ${place}; it is read as ${read}; remove style`
const ofPath = 'style form is not defined in path; it is read as style simple; remove style'
const exploded = (style: string) =>
  `OpenAPI does not define explode: true with style ${style}; it is read as style form; use that`
const ofQuery = 'style simple is not defined in query; it is read as style form with explode: false; use that'

const cases: Case[] = [
  [
    { in: 'query', style: 'spaceDelimited', schema: integer },
    oneStyle('spaceDelimited', 'query', 'style form'),
    [['/a?p=1', 1]],
  ],
  [
    { in: 'query', style: 'pipeDelimited', explode: true, schema: integer },
    oneStyle('pipeDelimited', 'query', 'style form'),
    [['/a?p=1', 1]],
  ],
  [
    { in: 'query', style: 'pipeDelimited', explode: true, schema: strings },
    exploded('pipeDelimited'),
    [
      ['/a?p=a|b&p=c', ['a|b', 'c']],
      ['/a?p[]=a', ['a']],
    ],
  ],
  [
    { in: 'query', style: 'spaceDelimited', explode: true, schema: point },
    exploded('spaceDelimited'),
    [['/a?x=1&y=2', { x: 1, y: 2 }]],
  ],
  [
    { in: 'query', style: 'deepObject', explode: false, schema: point },
    'OpenAPI does not define explode: false with style deepObject; it is read as exploded; remove explode',
    [['/a?p[x]=1&p[y]=2', { x: 1, y: 2 }]],
  ],
  [{ in: 'path', style: 'form', schema: integer }, oneStyle('form', 'path', 'style simple'), [['/a/1', 1]]],
  [{ in: 'path', style: 'deepObject', schema: integer }, oneStyle('deepObject', 'path', 'style simple'), [['/a/1', 1]]],
  [{ in: 'path', style: 'form', schema: integers }, ofPath, [['/a/1,2', [1, 2]]]],
  [{ in: 'path', style: 'form', explode: false, schema: point }, ofPath, [['/a/x,1,y,2', { x: 1, y: 2 }]]],
  [
    { in: 'header', style: 'form', schema: either },
    'style form is not defined in header; it is read as style simple; remove style',
    [
      ['/a', [1, 2], { p: '1, 2' }],
      ['/a', 1, { p: '1' }],
    ],
  ],
  [{ in: 'query', style: 'simple', schema: integer }, oneStyle('simple', 'query', 'style form'), [['/a?p=1', 1]]],
  [
    { in: 'query', style: 'simple', explode: true, schema: strings },
    ofQuery,
    [
      ['/a?p=a,b', ['a', 'b']],
      ['/a?p=a&p=b', ['a', 'b']],
    ],
  ],
  [{ in: 'query', style: 'simple', schema: point }, ofQuery, [['/a?p=x,1,y,2', { x: 1, y: 2 }]]],
  [
    { in: 'cookie', style: 'simple', schema: integers },
    'style simple is not defined in cookie; it is read as style form with explode: false; use that',
    [['/a', [1, 2], { cookie: 'p=1,2' }]],
  ],
  [
    { in: 'query', style: 'brackets', schema: integers },
    'style brackets is unknown; a list is read in every style; remove style',
    [
      ['/a?p[]=1&p[]=2', [1, 2]],
      ['/a?p=1,2', [1, 2]],
      ['/a?p=1&p=2', [1, 2]],
    ],
  ],
  [
    { in: 'query', style: 'none', schema: integer },
    'style none is unknown; a single value is read as style form; remove style',
    [['/a?p=1', 1]],
  ],
  [
    { in: 'query', style: '', schema: strings },
    'an empty style is read as style form; remove style',
    [['/a?p=a&p=b', ['a', 'b']]],
  ],
  [
    { in: 'query', style: 'PipeDelimited', schema: integer },
    `style PipeDelimited is read as pipeDelimited; correct it; ${oneStyle('pipeDelimited', 'query', 'style form')}`,
    [['/a?p=1', 1]],
  ],
  [
    { in: 'query', style: 'DeepObject', schema: point },
    'style DeepObject is read as deepObject; correct it',
    [['/a?p[x]=1', { x: 1 }]],
  ],
]

for (const [parameter, advice, requests] of cases)
  t.test(`${JSON.stringify(parameter)} is served with advice`, async (t) => {
    const document = documentOf(parameter)
    const { rejected, warnings } = checkDocument(document)
    t.same(rejected, [])
    t.same(checkDocument(withPublishedStyles(document)), { rejected: [], warnings: [] }, 'is published as it is read')
    t.same(warnings, [
      `${parameter.in === 'path' ? '#/paths/~1a~1%7Bp%7D' : '#/paths/~1a'}/get/parameters/0: parameter p: ${advice}`,
    ])
    const read = async (given: Record<string, { p: unknown }>) => ({ status: 200, body: given[parameter.in]?.p })
    const app = await serveDocument(document, { handlers: { read } as never })
    t.teardown(() => app.close())
    for (const [url, value, headers = {}] of requests) t.same((await app.inject({ url, headers })).json(), value, url)
    if (parameter.in === 'cookie') return
    const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 })
    const client = exactClient<Record<string, never>>(
      { parameters: callStyles(normalizedDocument(document)) },
      { baseUrl },
    )
    const { GET } = client as unknown as { GET(path: string, options: object): Promise<{ data: unknown }> }
    for (const [, value] of requests) {
      const { data } = await GET(Object.keys(document.paths ?? {})[0] as string, {
        params: { [parameter.in]: { p: value } },
      })
      t.same(data, value, 'the client writes what the service reads')
    }
  })

t.test('a style that leaves several readings is refused', async (t) => {
  for (const parameter of [
    { in: 'path', style: 'form', explode: true, schema: point },
    { in: 'path', style: 'form', explode: true, schema: integers },
    { in: 'path', style: 'deepObject', schema: point },
    { in: 'header', style: 'deepObject', schema: point },
    { in: 'header', style: 'label', schema: integer },
    { in: 'query', style: 'matrix', schema: integers },
    { in: 'query', style: 'simple', explode: true, schema: point },
    { in: 'query', style: 'brackets', schema: strings },
    { in: 'query', style: 'brackets', schema: point },
    { in: 'header', style: 'brackets', schema: integers },
    { in: 'cookie', style: 'cookie', schema: integer },
  ])
    t.match(checkDocument(documentOf(parameter)).rejected, [/is not supported in/], JSON.stringify(parameter))
})
