import t from 'tap'
import type { Document, MediaType } from '../../../scripts/generate/openapi-document.ts'
import { uncheckedBodies } from '../../../scripts/generate/request-schemas.ts'
import { unsupportedFeatures } from '../../../scripts/generate/unsupported-features.ts'

const withBody = (content: object): Document =>
  ({
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    paths: { '/a': { post: { operationId: 'a', requestBody: { content }, responses: { 204: {} } } } },
  }) as unknown as Document

const place = '#/paths/~1a/post/requestBody/content'
const problems = (content: object): string[] =>
  unsupportedFeatures(withBody(content)).map((line) => line.replace(place, ''))

const string = { type: 'string' }
const binary = { type: 'string', format: 'binary' }
const object = { type: 'object', properties: { a: string } }

t.test('bodies of these media types are read', async (t) => {
  const named = { schema: { type: 'object', properties: { a: string } } }
  for (const content of [
    { 'text/plain; charset=UTF-8': {}, 'Application/JSON': {}, 'application/json;odata=verbose': {} },
    { 'image/*': {}, '*/*': { schema: binary }, 'application/*': { schema: { contentMediaType: 'application/zip' } } },
    { 'application/pdf;charset=latin1': { schema: object } },
    { 'application/x-www-form-urlencoded': {}, 'multipart/form-data': named },
    { 'application/x-www-form-urlencoded': { schema: { type: 'object' } } },
  ]) {
    t.same(problems(content), [], JSON.stringify(content))
  }
})

t.test('bodies of others are refused, each with what to do', async (t) => {
  t.same(problems({}), [': has no media type; name one'])
  t.same(problems({ json: {}, 'text/plain;charset=latin1': {}, 'multipart/related': {}, '*/*': { schema: object } }), [
    ': json is no media type; use one such as text/plain',
    ': text/plain;charset=latin1 has a charset that is not read; use utf-8',
    ': multipart/related is not read; use multipart/form-data',
    ': */* does not say how its schema is read; name each media type, such as application/json',
  ])
})

t.test('a schema that is not checked is warned of', async (t) => {
  const content = {
    'application/xml': { schema: object },
    'text/csv': { schema: string },
    'application/pdf': { schema: object },
    'image/png': { schema: binary },
    'application/jsonl': {},
  }
  t.same(
    uncheckedBodies(withBody(content)),
    ['application~1xml', 'application~1pdf'].map((type) => `${place}/${type}: is not checked against its schema`),
  )
})

const multipart = (a: object, encoding: object = {}, more: object = {}) =>
  problems({
    'multipart/form-data': { schema: { type: 'object', properties: { a }, ...more }, encoding: { a: encoding } },
  })
const form = (a: object, encoding: object = {}, more: object = {}) =>
  problems({
    'application/x-www-form-urlencoded': {
      schema: { type: 'object', properties: { a }, ...more },
      encoding: { a: encoding },
    } as MediaType,
  })

t.test('forms that are read', async (t) => {
  const list = (items: object) => ({ type: 'array', items })
  const parts: [object, object?, object?][] = [
    [{}],
    [string],
    [binary],
    [list(binary)],
    [list(object)],
    [list({ anyOf: [object, { type: 'null' }] })],
    [{ anyOf: [binary, { type: 'null' }] }],
    [object, { contentType: 'application/vnd.a+json' }],
    [string, { contentType: 'application/xml' }],
    [string, { contentType: 'image/png, image/*' }],
    [{ contentMediaType: 'text/html', type: 'string' }],
    [string, { style: 'form', explode: true }],
    [string, {}, { additionalProperties: false }],
    [string, {}, { additionalProperties: true }],
  ]
  for (const one of parts) t.same(multipart(...one), [], JSON.stringify(one))
  const fields: [object, object?, object?][] = [
    [{}],
    [string],
    [object],
    [list(string)],
    [list(object), { contentType: 'application/json' }],
    [object, { style: 'deepObject' }],
    [object, { style: 'form', explode: false }],
    [list(string), { explode: false }],
    [string, { contentType: 'text/html' }],
    [{ type: 'string', contentEncoding: 'base64', contentMediaType: 'image/png' }],
    [string, {}, { additionalProperties: string }],
  ]
  for (const one of fields) t.same(form(...one), [], JSON.stringify(one))
})

t.test('forms that are not read are refused, each place with what to do', async (t) => {
  const parts = '/multipart~1form-data'
  t.same(problems({ 'multipart/form-data': { schema: { type: 'array' } } }), [
    `${parts}/schema: a form is an object, of which each field is a property; describe it so`,
  ])
  t.same(multipart(string, { headers: { 'X-A': {} } }), [
    `${parts}/encoding/a/headers: headers of a part are not read; leave them out`,
  ])
  for (const more of [{ additionalProperties: string }, { patternProperties: { a: string } }]) {
    t.same(multipart(string, {}, more), [`${parts}/schema: parts of any name are not read; name each as a property`])
  }
  const part: [object, object, string][] = [
    [string, { style: 'deepObject' }, 'a style is not read in multipart/form-data; use contentType'],
    [{ type: 'array' }, { explode: false }, 'a style is not read in multipart/form-data; use contentType'],
    [object, { contentType: 'image/png' }, 'a file has the type string; correct it'],
    [{ ...binary, maxLength: 5 }, {}, 'maxLength of a file is not checked; say it in the description'],
    [
      string,
      { contentType: 'text/html, application/json' },
      'the media types text/html, application/json are not read as one; use one of them',
    ],
    [
      string,
      { contentType: 'multipart/form-data' },
      'the media types multipart/form-data are not read as one; use one of them',
    ],
    [object, { contentType: 'text/xml' }, 'text/xml is a text; use application/json for an object'],
    [{ oneOf: [string, object] }, {}, 'may be JSON or a text; name its contentType'],
  ]
  for (const [schema, encoding, problem] of part) {
    t.same(multipart(schema, encoding), [`${parts}: property a: ${problem}`])
  }
  const fields = '/application~1x-www-form-urlencoded'
  const field: [object, object, string][] = [
    [binary, {}, 'a file is not read here; use multipart/form-data, or base64 with contentEncoding'],
    [
      string,
      { contentType: 'image/png' },
      'image/png is not read here; use application/json, text/plain or multipart/form-data',
    ],
    [object, { contentType: 'text/plain' }, 'text/plain is a text; use application/json for an object'],
    [string, { style: 'deepObject' }, 'style deepObject is of objects; use form'],
    [
      { type: 'array', items: object },
      {},
      'a list of objects or lists has no style; give it the contentType application/json in encoding',
    ],
  ]
  for (const [schema, encoding, problem] of field) {
    t.same(form(schema, encoding), [`${fields}: property a: ${problem}`])
  }
})
