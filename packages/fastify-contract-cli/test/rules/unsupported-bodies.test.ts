import t from 'tap'
import { join } from '../../src/document/json-pointer.ts'
import type { Document, MediaType } from '../../src/document/openapi-document.ts'
import { normalizedDocument } from '../../src/passes/normalize.ts'
import { checkDocument } from '../../src/rules/check-document.ts'

const withBody = (content: object): Document =>
  ({
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    paths: { '/a': { post: { operationId: 'a', requestBody: { content }, responses: { 204: {} } } } },
  }) as unknown as Document

const place = '#/paths/~1a/post/requestBody/content'
const problems = (content: object): string[] =>
  checkDocument(withBody(content)).rejected.map((line) => line.replace(place, ''))

/** Returns the warnings about a body that is served otherwise than described. */
function advice(content: object): string[] {
  const { rejected, warnings } = checkDocument(withBody(content))
  return [...rejected.map((line) => `rejected ${line}`), ...warnings].map((line) => line.replace(place, ''))
}

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
  ])
    t.same(problems(content), [], JSON.stringify(content))
})

t.test('bodies of other media types are rejected with a fix', async (t) => {
  t.same(problems({ json: {} }), [': json is not a media type; use one such as text/plain'])
  t.same(problems({ 'application/json;charset=utf-16': {} }), [
    ': application/json;charset=utf-16 has a charset that cannot be read; use utf-8',
  ])
})

t.test('bodies of media types that the service does not parse are bytes, with a warning', async (t) => {
  const whole = (names: string[]) => names.map((name) => `/${name}: is not validated against its schema`)
  t.same(advice({ 'text/plain;charset=latin1': {} }), [
    ': text/plain;charset=latin1 has a charset other than utf-8, so a handler gets its bytes',
  ])
  t.same(advice({ 'multipart/related': { schema: object } }), [
    ': multipart/related is not parsed: a handler gets its bytes, and the boundary in the Content-Type of the request',
    ...whole(['multipart~1related']),
  ])
  t.same(advice({ 'image/*': { schema: object }, 'text/*': {} }), whole(['image~1*']))
  for (const body of [{}, { required: true }, { content: {} }]) {
    const document = withBody({})
    const at = place.replace('/content', '')
    Object.assign(Object(document.paths)['/a'].post, { requestBody: body })
    t.same(checkDocument(document).rejected, [])
    t.same(checkDocument(document).warnings, [
      `${at}: has no media type, so a body is bytes of any media type; add a media type`,
    ])
    t.same(served(document), { ...body, content: { '*/*': {} } })
  }
})

/** Returns the request body as it is served. */
const served = (document: Document) => Object(normalizedDocument(document).paths)['/a'].post.requestBody

t.test('a name that is no media type is corrected where that is certain, or ignored beside one', async (t) => {
  const cases: [string[], string[], string][] = [
    [['application/json;'], ['application/json'], 'is served as application/json; write it so'],
    [[' Text/CSV '], ['Text/CSV'], 'is served as Text/CSV; write it so'],
    [['text/csv;charset="utf8"'], ['text/csv;charset=utf-8'], 'is served as text/csv;charset=utf-8; write it so'],
    [['text/csv, text/html'], ['text/csv', 'text/html'], 'is served as text/csv and text/html; write it so'],
    [['application/*+json'], ['application/json'], 'is served as application/json; write it so'],
    [['json', 'text/csv'], ['text/csv'], 'is not a media type, so it is ignored; name each media type'],
    [
      ['application/json ', 'application/json'],
      ['application/json'],
      'is not a media type, so it is ignored; name each media type',
    ],
  ]
  for (const [names, expected, text] of cases) {
    const content = Object.fromEntries(names.map((name) => [name, {}]))
    const { rejected, warnings } = checkDocument(withBody(content))
    t.same(rejected, [])
    t.same(warnings, [`${join(place, names[0] as string)}: ${text}`])
    t.same(Object.keys(served(withBody(content)).content), expected)
  }
  t.same(problems({ 'text, csv': {} }), [': text, csv is not a media type; use one such as text/plain'])
})

t.test('a range with a schema of JSON is application/json, with a warning', async (t) => {
  const text = (range: string) => `: ${range} is a range; with this schema, bodies must be application/json`
  for (const range of ['*/*', 'application/*']) {
    t.same(advice({ [range]: { schema: object }, 'image/png': {} }), [text(range)])
    t.same(served(withBody({ [range]: { schema: object }, 'image/png': {} })).content, {
      'application/json': { schema: object },
      'image/png': {},
    })
  }
  const own = { schema: { type: 'object' } }
  for (const other of ['application/json', 'application/json; charset=utf-8']) {
    t.same(advice({ '*/*': { schema: object }, [other]: own }), [text('*/*')])
    t.same(served(withBody({ '*/*': { schema: object }, [other]: own })).content, { [other]: own })
  }
  t.same(served(withBody({ '*/*': { schema: object }, 'application/vnd.box+json': own })).content, {
    'application/json': { schema: object },
    'application/vnd.box+json': own,
  })
  t.same(advice({ '*/*': { schema: object }, 'application/*': own }), ['*/*', 'application/*'].map(text))
  t.same(served(withBody({ '*/*': { schema: object }, 'application/*': own })).content, {
    'application/json': { schema: object },
  })
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
  advice({
    'multipart/form-data': { schema: { type: 'object', properties: { a }, ...more }, encoding: { a: encoding } },
  })
const form = (a: object, encoding: object = {}, more: object = {}) =>
  advice({
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

const bytes = 'so a handler gets its bytes, which are not validated'
const texts = 'so a handler gets its texts, which are not validated'
const anyFile = { contentMediaType: 'application/octet-stream' }
const anyTexts = { anyOf: [string, { type: 'array', items: string }] }

/** Returns the schema and the encoding with which a form is served. */
const servedForm = (mediaType: string, schema: object | undefined, encoding: object = {}) =>
  served(withBody({ [mediaType]: { ...(schema && { schema }), encoding } })).content[mediaType]

t.test('parts that cannot be read as described are bytes, with a warning', async (t) => {
  const parts = '/multipart~1form-data'
  const each = 'so a handler gets the bytes of each part, which are not validated; describe each as a property'
  const others = 'so a handler gets the bytes of each other part, which are not validated'
  const anyForm = { type: 'object', additionalProperties: { type: 'array', items: anyFile } }
  for (const schema of [{ type: 'array' }, binary]) {
    t.same(advice({ 'multipart/form-data': { schema } }), [`${parts}/schema: a form is an object, ${each}`])
    t.same(servedForm('multipart/form-data', schema), { schema: anyForm })
  }
  for (const schema of [undefined, {}, { type: 'object', additionalProperties: true }]) {
    t.same(advice({ 'multipart/form-data': { ...(schema && { schema }) } }), [
      `${parts}/schema: names no parts, ${each}`,
    ])
    t.same(servedForm('multipart/form-data', schema).schema, anyForm)
  }
  for (const schema of [
    { type: 'object', additionalProperties: false },
    { type: 'object', maxProperties: 0 },
  ]) {
    t.same(advice({ 'multipart/form-data': { schema } }), [])
    t.same(servedForm('multipart/form-data', schema).schema, schema)
  }
  t.same(multipart(string, { headers: { 'X-A': {} } }), [
    `${parts}/encoding/a/headers: headers of a part are not checked; state them in the description`,
  ])
  for (const more of [{ patternProperties: { a: string } }, { unevaluatedProperties: string }]) {
    t.same(multipart(string, {}, more), [
      `${parts}/schema: parts whose names a pattern describes are not supported, ${others}; name each as a property, or use additionalProperties`,
    ])
    t.same(servedForm('multipart/form-data', { type: 'object', properties: { a: string }, ...more }).schema, {
      ...anyForm,
      properties: { a: string },
    })
  }
  t.same(multipart(string, {}, { additionalProperties: { type: ['object', 'string'] } }), [
    `${parts}/schema: additionalProperties: may be JSON or plain text, ${others}; set its contentType`,
  ])
  for (const [schema, encoding, ignored] of [
    [string, { style: 'deepObject' }, 'style in multipart/form-data is'],
    [{ type: 'array' }, { explode: false, style: 'form' }, 'explode in multipart/form-data is'],
    [{ type: 'array' }, { explode: false, style: 'pipeDelimited' }, 'style and explode in multipart/form-data are'],
  ] as const)
    t.same(multipart(schema, encoding), [
      `${parts}/encoding/a: ${ignored} not applied: each item of an array is a part, and an object is JSON`,
    ])
  const part: [object, object, string, object?][] = [
    [object, { contentType: 'image/png' }, `a file must have the type string, ${bytes}; correct it`],
    [
      { type: 'array', items: { ...binary, pattern: 'a' }, uniqueItems: true, maxItems: 2 },
      {},
      'pattern and uniqueItems of a file are not checked; state it in the description',
      { type: 'array', items: binary, maxItems: 2 },
    ],
    [{ ...binary, maxLength: 5 }, {}, 'maxLength of a file is not checked; state it in the description', binary],
    [
      { type: 'array', items: binary, uniqueItems: true },
      {},
      'uniqueItems of a file is not checked; state it in the description',
      { type: 'array', items: binary },
    ],
    [
      string,
      { contentType: 'text/html, application/json' },
      `the media types text/html, application/json cannot be the content of one part, ${bytes}; use application/json or text/plain`,
    ],
    [
      string,
      { contentType: 'multipart/form-data' },
      `the media types multipart/form-data cannot be the content of one part, ${bytes}; use application/json or text/plain`,
    ],
    [
      object,
      { contentType: 'text/xml' },
      `text/xml is plain text, ${bytes}; use application/json for an object or an array`,
    ],
    [{ oneOf: [string, object] }, {}, `may be JSON or plain text, ${bytes}; set its contentType`],
    [
      { type: 'array', items: { oneOf: [string, object] } },
      {},
      `may be JSON or plain text, ${bytes.replace('its bytes', 'the bytes of each')}; set its contentType`,
      { type: 'array', items: anyFile },
    ],
  ]
  for (const [schema, encoding, problem, served = anyFile] of part) {
    t.same(multipart(schema, encoding), [`${parts}: property a: ${problem}`])
    const form = { type: 'object', properties: { a: schema }, required: ['a'] }
    const expected = { ...form, properties: { a: served } }
    t.same(servedForm('multipart/form-data', form, { a: encoding }).schema, expected)
  }
})

t.test('fields of a URL-encoded form that cannot be read as described are texts, with a warning', async (t) => {
  const fields = '/application~1x-www-form-urlencoded'
  t.same(advice({ 'application/x-www-form-urlencoded': { schema: string } }), [
    `${fields}/schema: a form is an object, so a handler gets the texts of each field, which are not validated; describe each as a property`,
  ])
  t.same(servedForm('application/x-www-form-urlencoded', string), { schema: { type: 'object' } })
  const list = { type: 'array', items: object }
  const field: [object, object, string, object?][] = [
    [
      string,
      { contentType: 'image/png' },
      'image/png is not supported in a URL-encoded form, so its contentType is ignored; use application/json, text/plain or multipart/form-data',
      string,
    ],
    [
      object,
      { contentType: 'text/plain' },
      'text/plain is plain text, so its contentType is ignored; use application/json for an object or an array',
      object,
    ],
    [
      list,
      { explode: false },
      `its style cannot write an array of objects or arrays, ${texts}; use style deepObject, or give it the contentType application/json in encoding`,
    ],
    [{ oneOf: [string, object] }, {}, `may be JSON or plain text, ${texts}; set its contentType`],
  ]
  for (const [schema, encoding, problem, served = anyTexts] of field) {
    t.same(form(schema, encoding), [`${fields}: property a: ${problem}`])
    const found = servedForm('application/x-www-form-urlencoded', { properties: { a: schema } }, { a: encoding })
    t.same(found, { schema: { properties: { a: served } }, encoding: {} })
  }
})

t.test('a form of several schemas allows each of them where a property is not validated', async (t) => {
  const components = {
    schemas: {
      Named: { required: ['name'], properties: { name: string, a: { ...binary, minLength: 1 } } },
      Loop: { allOf: [{ $ref: '#/components/schemas/Loop' }], properties: { a: { ...binary, minLength: 1 } } },
    },
  }
  const schemaOf = (schema: object) => {
    const document = { ...withBody({ 'multipart/form-data': { schema } }), components }
    return served(document).content['multipart/form-data'].schema
  }
  const [a, checked] = [{ properties: { a: binary } }, { properties: { a: { ...binary, minLength: 1 } } }]
  const named = { required: ['name'], properties: { name: string, a: binary } }
  t.same(schemaOf({ $ref: '#/components/schemas/Named' }), named)
  t.same(schemaOf({ title: 'T', $ref: '#/components/schemas/Named' }), { title: 'T', allOf: [named] })
  t.same(schemaOf({ oneOf: [checked, { required: ['b'] }] }), { anyOf: [a, { required: ['b'] }] })
  t.same(schemaOf({ ...checked, not: checked }), a)
  t.same(schemaOf({ ...checked, if: checked, else: { required: ['b'] } }), {
    ...a,
    allOf: [{ anyOf: [true, { required: ['b'] }] }],
  })
  t.same(schemaOf({ if: { required: ['b'] }, else: checked }), { if: { required: ['b'] }, else: a })
  t.same(schemaOf({ dependentSchemas: { b: checked, c: true } }), { dependentSchemas: { b: a, c: true } })
  t.match(schemaOf({ $ref: '#/components/schemas/Loop' }), a)
  t.same(schemaOf({ $ref: '#/components/schemas/Named', maxProperties: 3 }), { maxProperties: 3, allOf: [named] })
})

t.test('a form with too many schemas is not validated, with a warning', async (t) => {
  const level = (index: number) => {
    const $ref = `#/components/schemas/Level${index + 1}`
    return index === 16 ? { properties: { a: { ...binary, minLength: 1 } } } : { allOf: [{ $ref }, { $ref }] }
  }
  const schemas = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`Level${index}`, level(index)]))
  const $ref = '#/components/schemas/Level0'
  const document = { ...withBody({ 'multipart/form-data': { schema: { $ref } } }), components: { schemas } }
  t.match(checkDocument(document).warnings, [
    /property a: minLength of a file is not checked/,
    /form-data\/schema: its schema is too large, so a handler gets the bytes of each part/,
  ])
  t.same(served(document).content['multipart/form-data'].schema, {
    type: 'object',
    additionalProperties: { type: 'array', items: anyFile },
  })
})

const integer = { type: 'integer' }
const several = (effect: string) =>
  `has several types that a string cannot distinguish, ${effect}; describe it the same way in each schema, or give it the contentType application/json`
const isList = (effect: string) =>
  `is an array in one schema and not in another, ${effect}; describe it the same way in each`
const allBytes = bytes.replace('its bytes', 'the bytes of each')

/** Returns, for each kind of form, the problems of a form whose field `v` has several alternative schemas. */
const alternatives = (schemas: object[], encoding: object = {}): string[][] =>
  ['multipart/form-data', 'application/x-www-form-urlencoded'].map((mediaType) =>
    advice({
      [mediaType]: {
        schema: { type: 'object', oneOf: schemas.map((v) => ({ properties: { v } })) },
        encoding: { v: encoding },
      },
    }).map((line) => line.replace(/^.*?: /, '')),
  )

t.test('a field whose alternatives no string can distinguish is rejected', async (t) => {
  const list = (items: object) => ({ type: 'array', items })
  for (const [schemas, part, field] of [
    [[integer, string], several(bytes), several(texts)],
    [[list(integer), list(string)], several(allBytes), several(texts)],
    [[{ type: 'boolean' }, { type: ['string', 'null'] }], several(bytes), several(texts)],
    [[list(string), string], isList(allBytes), isList(texts)],
  ] as const) {
    const lines = [[`property v: ${part}`], [`property v: ${field}`]]
    t.same(alternatives([...schemas]), lines, JSON.stringify(schemas))
  }
  for (const schemas of [
    [integer, { type: 'integer', minimum: 1 }],
    [string, { const: 'a' }, {}],
    [list(integer), list({ type: 'number' })],
    [object, { type: 'object', properties: { a: integer } }],
  ])
    t.same(alternatives(schemas), [[], []], JSON.stringify(schemas))
  const json = { contentType: 'application/json' }
  t.same(alternatives([integer, string], json), [[], []])
  t.same(alternatives([list(object), object], json), [[`property v: ${isList(allBytes)}`], []])
  t.same(multipart({}, {}, { oneOf: [{ properties: { a: binary } }, { properties: { a: string } }] }), [])
  t.same(form({}, {}, { allOf: [{ properties: { v: integer } }], unevaluatedProperties: string }), [])
})

t.test('the contentType of an encoding is ignored where it has more than charset=utf-8', async (t) => {
  for (const [contentType, problem] of [
    ['nonsense', 'nonsense is not a media type, so it is ignored; use one such as text/plain'],
    [
      'text/a; b=c',
      'text/a; b=c has the parameter b, which is not supported in a form, so it is read as text/a; remove it',
    ],
    [
      'text/a; charset=utf-8;charset=utf-8',
      'text/a; charset=utf-8;charset=utf-8 is not a media type, so it is ignored; use one such as text/plain',
    ],
  ] as const) {
    t.same(multipart(string, { contentType }), [`/multipart~1form-data: property a: ${problem}`])
    t.same(form(string, { contentType }), [`/application~1x-www-form-urlencoded: property a: ${problem}`])
  }
  const latin = 'text/plain; charset=latin1'
  const problem = `${latin} has a charset that cannot be read`
  t.same(multipart(string, { contentType: latin }), [
    `/multipart~1form-data: property a: ${problem}, so it is read as bytes; use utf-8`,
  ])
  t.same(form(string, { contentType: latin }), [
    `/application~1x-www-form-urlencoded: property a: ${problem}, so it is ignored; use utf-8`,
  ])
  for (const contentType of ['application/xml; charset=UTF-8', 'text/plain;charset=utf8', 'text/a,'])
    t.same(multipart(string, { contentType }), [])
  t.same(form(string, { contentType: 'text/plain;charset="utf-8"' }), [])
})

t.test('unnamed fields that would lose their type are texts, with a warning', async (t) => {
  const place = '/application~1x-www-form-urlencoded/schema'
  const list = { type: 'array', items: integer }
  t.same(form(string, {}, { additionalProperties: list }), [
    `${place}: fields that the schema does not name are read as strings, so a handler gets the texts of each other field, which are not validated; name each array and object as a property`,
  ])
  t.same(form(string, {}, { patternProperties: { '^n': integer, '^s': string } }), [
    `${place}: fields that the schema does not name have several types, so a handler gets the texts of each other field, which are not validated; name each as a property`,
  ])
  t.same(form(string, {}, { patternProperties: { '^n': integer, '^m': { type: 'number' } } }), [])
  t.same(form({ oneOf: [string, object] }), [
    '/application~1x-www-form-urlencoded: property a: may be JSON or plain text, so a handler gets its texts, which are not validated; set its contentType',
  ])
  t.same(form({ oneOf: [object, { type: 'null' }] }), [])
})
