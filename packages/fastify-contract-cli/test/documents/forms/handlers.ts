import { type Call, refused, typed, unread } from '../served-documents.ts'
import type { Handlers } from './handler-types.d.ts'

export const handlers: Handlers = {
  async addPlant({ body }) {
    const id: bigint = body.id
    return { status: 200, body: { ...body, id: id + 0n } }
  },
  addAny: async ({ body }) => ({ status: 200, body: body ?? 'none' }),
  addAll: async ({ body }) => ({ status: 200, body }),
  addClosed: async () => ({ status: 204, body: undefined }),
  addText: async ({ body }) => ({ status: 200, body: body.toUpperCase() }),
  async putDocument({ body, contentType }) {
    switch (contentType) {
      case 'application/json':
      case 'application/x-www-form-urlencoded':
        return { status: 200, body: { contentType, id: body.id } }
      case 'application/vnd.plant+json; version=2':
        return { status: 200, body: { contentType, number: body + 0n } }
      case undefined:
        return { status: 200, body: { none: body === undefined } }
      default:
        return { status: 200, body: { contentType, text: body.toUpperCase() } }
    }
  },
  async patchDocument({ body, contentType }) {
    if (contentType === 'application/json-patch+json') return { status: 200, body: body.length }
    return { status: 200, body: { contentType, keys: Object.keys(body ?? {}) } }
  },
}

const form = typed('POST /plants', 'application/x-www-form-urlencoded')
const forms: Call[] = [
  {
    ...form('id=9007199254740993&name=a+b%26c&height=1.5&isDry=true&tags=x%2Cy&tags=z&sizes=1|2%7C3'),
    body: '{"id":9007199254740993,"name":"a b&c","height":1.5,"isDry":true,"tags":["x,y","z"],"sizes":[1,2,3]}',
  },
  { ...form('id=1&height='), body: '{"id":1,"height":null}' },
  { ...form('id=1&=empty&name=a'), body: /"":"empty"/ },
  { ...form('id=1&&name=&other=2'), body: '{"id":1,"name":"","other":"2"}' },
  { ...form('id=1&other=2&other=+'), body: '{"id":1,"other":["2"," "]}' },
  {
    ...form('id=1&place[bed]=9007199254740993&place%5Brow%5D=a'),
    body: '{"id":1,"place":{"bed":9007199254740993,"row":"a"}}',
  },
  {
    ...form('id=1&notes=[{"at":9007199254740993}]&origin=%7B%22code%22:9007199254740993%7D'),
    body: '{"id":1,"notes":[{"at":9007199254740993}],"origin":{"code":9007199254740993}}',
  },
  { ...form('id=1&serial=a&serial=b'), body: '{"id":1}' },
  { ...form('id=1&rows=2&columns=3'), body: '{"id":1,"grid":{"rows":2,"columns":3}}' },
  { ...form('id=1&__proto__=2'), body: '{"id":1,"__proto__":"2"}' },
  ...[
    '',
    'name=a',
    'id=a',
    'id=1.5',
    'id=9223372036854775808',
    'id=1&id=2',
    'id=1&isDry=yes',
    'id=1&tags=1&tags=2&tags=3&tags=4',
    'id=1&sizes=1|a',
    'id=1&sizes=1|9007199254740993',
    'id=1&origin={',
    'id=1&origin={"code":1,"code":1}',
    'id=1&notes=1',
    'id=1&name=%ff',
    'id=1&name=%00',
    'id=1&name=\0',
    'id=1&name=%',
    'id=1&place[bed]=a',
  ].map((send): Call => ({ ...form(send), ...refused })),
  { ...form('&'.repeat(999)), ...refused },
  { ...form('&'.repeat(1_000)), status: 413, error: 41300 },
  { ...typed('POST /plants', 'application/x-www-form-urlencoded; charset=UTF-8')('id=1'), body: '{"id":1}' },
  { ...typed('POST /plants', 'application/x-www-form-urlencoded; charset=latin1')('id=1'), ...unread },
  { ...typed('POST /plants', 'application/json')('{"id":1}'), ...unread },
]

const anyForm = typed('POST /any', 'application/x-www-form-urlencoded')
const closedForm = typed('POST /closed', 'application/x-www-form-urlencoded')
const text = typed('POST /texts', 'text/plain')
const texts: Call[] = [
  { ...typed('POST /all', 'application/x-www-form-urlencoded')('a=1&b=2'), body: '{"counts":{"a":1,"b":2}}' },
  { ...anyForm('a=9007199254740993'), body: '{"a":9007199254740993}' },
  { ...anyForm('a=b'), ...refused },
  { request: 'POST /any', body: '"none"' },
  { ...closedForm('a=b'), status: 204 },
  { ...closedForm('a=b&&'), status: 204 },
  { ...closedForm('a=b&c='), ...refused },
  { ...closedForm('a=b&=c'), ...refused },
  { ...closedForm('a=b&='), ...refused },
  { ...text('aä'), body: 'AÄ' },
  { ...text(''), body: '' },
  { ...text('1234567890'), ...refused },
  { ...text('a\0'), ...refused },
  { request: 'POST /texts', headers: { 'content-type': 'text/plain;charset="utf-8"' }, send: '1', body: '1' },
  { request: 'POST /texts', headers: { 'content-type': 'text/plain; charset=ascii' }, send: '1', ...unread },
  { request: 'POST /texts', headers: { 'content-type': 'text/html' }, send: '1', ...unread },
  { request: 'POST /texts', status: 415, error: 41500 },
]

const put = (type: string, send: string) => typed('PUT /documents', type)(send)
const patch = (type: string, send: string) => typed('PATCH /patches', `application/${type}`)(send)
const several: Call[] = [
  { request: 'PUT /documents', body: '{"none":true}' },
  {
    ...put('APPLICATION/json', '{"id":9007199254740993}'),
    body: '{"contentType":"application/json","id":9007199254740993}',
  },
  { ...put('application/json', '{"id":"1"}'), ...refused },
  { ...put('application/json', '{'), status: 400, error: 40002 },
  {
    ...put('application/x-www-form-urlencoded', 'id=2'),
    body: '{"contentType":"application/x-www-form-urlencoded","id":2}',
  },
  {
    ...put('application/vnd.plant+json;version=2;charset=utf-8', '9007199254740993'),
    body: '{"contentType":"application/vnd.plant+json; version=2","number":9007199254740993}',
  },
  {
    ...put('application/vnd.plant+json;VERSION="3"', '"a"'),
    body: '{"contentType":"application/vnd.plant+json; version=3","text":"A"}',
  },
  { ...put('application/vnd.plant+json; version=2', '"a"'), ...refused },
  ...[
    'application/vnd.plant+json',
    'application/vnd.plant+json; version=4',
    'text/csv; header=present',
    'a',
    'text/csv;;a',
  ].map((type): Call => ({ ...put(type, '1'), ...unread })),
  { ...put('text/csv', 'id\n1'), body: '{"contentType":"text/csv","text":"ID\\n1"}' },
  { ...put('text/csv', 'name'), ...refused },
  { ...put('application/xml', '<id/>'), body: '{"contentType":"application/xml","text":"<ID/>"}' },
  { ...patch('json-patch+json', '[1]'), body: '1' },
  { ...patch('merge-patch+json', '{"a":1}'), body: '{"contentType":"application/merge-patch+json","keys":["a"]}' },
  { ...patch('merge-patch+json', '[]'), ...refused },
  { request: 'PATCH /patches', body: '{"keys":[]}' },
]

export const calls: Call[] = [...forms, ...texts, ...several]
