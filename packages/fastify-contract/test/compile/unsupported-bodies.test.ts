import t from 'tap'
import type { Document, MediaType } from '../../src/compile/document/openapi-document.ts'
import { checkDocument } from '../../src/compile/rules/check-document.ts'

const withBody = (content: object): Document =>
  ({
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    paths: { '/a': { post: { operationId: 'a', requestBody: { content }, responses: { 204: {} } } } },
  }) as unknown as Document

const place = '#/paths/~1a/post/requestBody/content'
const problems = (content: object): string[] =>
  checkDocument(withBody(content)).rejected.map((line) => line.replace(place, ''))

const string = { type: 'string' }
const binary = { type: 'string', format: 'binary' }
const object = { type: 'object', properties: { a: string } }

t.test('bodies of supported media types are accepted', async (t) => {
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

t.test('bodies of other media types are rejected with a fix', async (t) => {
  t.same(problems({}), [': has no media type; add one'])
  t.same(
    problems({ json: {}, 'text/plain;charset=latin1': {}, 'multipart/related': {}, 'image/*': { schema: object } }),
    [
      ': json is not a media type; use one such as text/plain',
      ': text/plain;charset=latin1 has a charset that cannot be read; use utf-8',
      ': multipart/related is not supported; use multipart/form-data',
      ': image/* is a range, so the format of the body is unknown; name each media type, such as application/json',
    ],
  )
})

t.test('a range with a schema of JSON is application/json, with a warning', async (t) => {
  for (const range of ['*/*', 'application/*']) {
    t.same(checkDocument(withBody({ [range]: { schema: object }, 'image/png': {} })), {
      rejected: [],
      warnings: [`${place}: ${range} is a range; with this schema, bodies must be application/json`],
    })
  }
  for (const other of ['application/json', 'application/vnd.box+json', 'application/*'])
    t.match(problems({ '*/*': { schema: object }, [other]: {} }), [/^: \*\/\* is a range, so/], other)
})

t.test('a schema that is not checked gives a warning', async (t) => {
  const content = {
    'application/xml': { schema: object },
    'text/csv': { schema: string },
    'application/pdf': { schema: object },
    'image/png': { schema: binary },
    'application/jsonl': {},
  }
  t.same(
    checkDocument(withBody(content)).warnings,
    ['application~1xml', 'application~1pdf'].map((type) => `${place}/${type}: is not validated against its schema`),
  )
})

t.test('a file in a URL-encoded form gives a warning, since it is text', async (t) => {
  const schema = { type: 'object', properties: { a: binary } }
  const content = { 'application/x-www-form-urlencoded': { schema }, 'multipart/form-data': { schema } }
  t.same(checkDocument(withBody(content)), {
    rejected: [],
    warnings: [
      `${place}/application~1x-www-form-urlencoded: property a: a file in a URL-encoded form is UTF-8 text; use multipart/form-data`,
    ],
  })
  const encoding = { a: { contentType: 'text/plain' } }
  t.same(checkDocument(withBody({ 'application/x-www-form-urlencoded': { schema, encoding } })).warnings, [])
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

t.test('supported form schemas are accepted', async (t) => {
  const list = (items: object) => ({ type: 'array', items })
  const parts: [object, object?, object?][] = [
    [{}],
    [string],
    [binary],
    [list(binary)],
    [list(object)],
    [{ ...list(string), uniqueItems: true }],
    [list({ anyOf: [object, { type: 'null' }] })],
    [{ anyOf: [binary, { type: 'null' }] }],
    [object, { contentType: 'application/vnd.a+json' }],
    [string, { contentType: 'application/xml' }],
    [string, { contentType: 'image/png, image/*' }],
    [{ contentMediaType: 'text/html', type: 'string' }],
    [string, { style: 'form', explode: true }],
    [string, {}, { additionalProperties: false }],
    [string, {}, { additionalProperties: true }],
    [string, {}, { additionalProperties: string }],
    [string, {}, { additionalProperties: list(binary) }],
  ]
  for (const one of parts) t.same(multipart(...one), [], JSON.stringify(one))
  const fields: [object, object?, object?][] = [
    [{}],
    [string],
    [object],
    [list(string)],
    [list(object), { contentType: 'application/json' }],
    [object, { style: 'deepObject' }],
    [string, { style: 'deepObject' }],
    [object, { style: 'form', explode: false }],
    [list(string), { explode: false }],
    [string, { contentType: 'text/html' }],
    [{ type: 'string', contentEncoding: 'base64', contentMediaType: 'image/png' }],
    [string, {}, { additionalProperties: string }],
  ]
  for (const one of fields) t.same(form(...one), [], JSON.stringify(one))
})

t.test('unsupported forms are rejected with location and fix', async (t) => {
  const parts = '/multipart~1form-data'
  t.same(problems({ 'multipart/form-data': { schema: { type: 'array' } } }), [
    `${parts}/schema: a form must be an object; describe each field as a property`,
  ])
  t.same(multipart(string, { headers: { 'X-A': {} } }), [
    `${parts}/encoding/a/headers: headers of a part are not supported; remove them`,
  ])
  for (const more of [{ patternProperties: { a: string } }, { unevaluatedProperties: string }]) {
    t.same(multipart(string, {}, more), [
      `${parts}/schema: parts whose names a pattern describes are not supported; name each as a property, or use additionalProperties`,
    ])
  }
  t.same(multipart(string, {}, { additionalProperties: { type: ['object', 'string'] } }), [
    `${parts}/schema: additionalProperties: may be JSON or plain text; set its contentType`,
  ])
  const part: [object, object, string][] = [
    [string, { style: 'deepObject' }, 'style and explode are not supported in multipart/form-data; use contentType'],
    [
      { type: 'array' },
      { explode: false },
      'style and explode are not supported in multipart/form-data; use contentType',
    ],
    [object, { contentType: 'image/png' }, 'a file must have the type string; correct it'],
    [
      { type: 'array', items: binary, uniqueItems: true },
      {},
      'uniqueItems is not checked for files; state it in the description',
    ],
    [{ ...binary, maxLength: 5 }, {}, 'maxLength is not checked for a file; state it in the description'],
    [
      string,
      { contentType: 'text/html, application/json' },
      'the media types text/html, application/json cannot be the content of one part; use application/json or text/plain',
    ],
    [
      string,
      { contentType: 'multipart/form-data' },
      'the media types multipart/form-data cannot be the content of one part; use application/json or text/plain',
    ],
    [object, { contentType: 'text/xml' }, 'text/xml is plain text; use application/json for an object or an array'],
    [{ oneOf: [string, object] }, {}, 'may be JSON or plain text; set its contentType'],
  ]
  for (const [schema, encoding, problem] of part) {
    t.same(multipart(schema, encoding), [`${parts}: property a: ${problem}`])
  }
  const fields = '/application~1x-www-form-urlencoded'
  const field: [object, object, string][] = [
    [
      string,
      { contentType: 'image/png' },
      'image/png is not supported in a URL-encoded form; use application/json, text/plain or multipart/form-data',
    ],
    [object, { contentType: 'text/plain' }, 'text/plain is plain text; use application/json for an object or an array'],
    [
      { type: 'array', items: object },
      { explode: false },
      'its style cannot write an array of objects or arrays; use style deepObject, or give it the contentType application/json in encoding',
    ],
  ]
  for (const [schema, encoding, problem] of field) {
    t.same(form(schema, encoding), [`${fields}: property a: ${problem}`])
  }
})

const integer = { type: 'integer' }
const several =
  'has several types that a string cannot distinguish; describe it the same way in each schema, or give it the contentType application/json'
const isList = 'is an array in one schema and not in another; describe it the same way in each'

/** Returns, for each kind of form, the problems of a form whose field `v` has several alternative schemas. */
const alternatives = (schemas: object[], encoding: object = {}): string[][] =>
  ['multipart/form-data', 'application/x-www-form-urlencoded'].map((mediaType) =>
    problems({
      [mediaType]: {
        schema: { type: 'object', oneOf: schemas.map((v) => ({ properties: { v } })) },
        encoding: { v: encoding },
      },
    }).map((line) => line.replace(/^.*?: /, '')),
  )

t.test('a field whose alternatives no string can distinguish is rejected', async (t) => {
  const list = (items: object) => ({ type: 'array', items })
  for (const [schemas, problem] of [
    [[integer, string], several],
    [[list(integer), list(string)], several],
    [[{ type: 'boolean' }, { type: ['string', 'null'] }], several],
    [[list(string), string], isList],
  ] as const) {
    const line = `property v: ${problem}`
    t.same(alternatives([...schemas]), [[line], [line]], JSON.stringify(schemas))
  }
  for (const schemas of [
    [integer, { type: 'integer', minimum: 1 }],
    [string, { const: 'a' }, {}],
    [list(integer), list({ type: 'number' })],
    [object, { type: 'object', properties: { a: integer } }],
  ]) {
    t.same(alternatives(schemas), [[], []], JSON.stringify(schemas))
  }
  const json = { contentType: 'application/json' }
  t.same(alternatives([integer, string], json), [[], []])
  t.same(alternatives([list(object), object], json), [[`property v: ${isList}`], []])
  t.same(multipart({}, {}, { oneOf: [{ properties: { a: binary } }, { properties: { a: string } }] }), [])
  t.same(form({}, {}, { allOf: [{ properties: { v: integer } }], unevaluatedProperties: string }), [])
})

t.test('the contentType of an encoding may have no parameter but charset=utf-8', async (t) => {
  for (const [contentType, problem] of [
    ['nonsense', 'nonsense is not a media type; use one such as text/plain'],
    ['text/plain; charset=latin1', 'text/plain; charset=latin1 has a charset that cannot be read; use utf-8'],
    ['text/a; b=c', 'text/a; b=c has the parameter b, which is not supported in a form; remove it'],
    [
      'text/a; charset=utf-8;charset=utf-8',
      'text/a; charset=utf-8;charset=utf-8 is not a media type; use one such as text/plain',
    ],
  ] as const) {
    t.same(multipart(string, { contentType }), [`/multipart~1form-data: property a: ${problem}`])
    t.same(form(string, { contentType }), [`/application~1x-www-form-urlencoded: property a: ${problem}`])
  }
  t.same(multipart(string, { contentType: 'application/xml; charset=UTF-8' }), [])
  t.same(form(string, { contentType: 'text/plain;charset="utf-8"' }), [])
})

t.test('unnamed fields that would lose their type are rejected', async (t) => {
  const place = '/application~1x-www-form-urlencoded/schema'
  const list = { type: 'array', items: integer }
  t.same(form(string, {}, { additionalProperties: list }), [
    `${place}: fields that the schema does not name are read as strings; name each array and object as a property`,
  ])
  t.same(form(string, {}, { patternProperties: { '^n': integer, '^s': string } }), [
    `${place}: fields that the schema does not name have several types; name each as a property`,
  ])
  t.same(form(string, {}, { patternProperties: { '^n': integer, '^m': { type: 'number' } } }), [])
  t.same(form({ oneOf: [string, object] }), [
    '/application~1x-www-form-urlencoded: property a: may be JSON or plain text; set its contentType',
  ])
  t.same(form({ oneOf: [object, { type: 'null' }] }), [])
})
