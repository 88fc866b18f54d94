import t from 'tap'
import { asOpenApi31 } from '../../src/compile/document/normalize.ts'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import { checkDocument } from '../../src/compile/rules/check-document.ts'

const documentOf = (schemas: object, openapi = '3.1.0', more: object = {}): Document => ({
  openapi,
  info: { title: '', version: '' },
  components: { schemas, ...more },
})

const at = '#/components/schemas'
const to = (name: string) => ({ $ref: `${at}/${name}` })
const secret = { type: 'object', properties: { secret: { writeOnly: true } } }

t.test('contradictory readOnly and writeOnly are rejected with their location', async (t) => {
  const both = {
    Id: { readOnly: true },
    A: {
      properties: { id: { ...to('Id'), writeOnly: true }, own: { readOnly: true, writeOnly: true }, one: to('Id') },
    },
    B: { 'x-ignored': true },
  }
  const nowhere = 'is both readOnly and writeOnly, so neither a request nor a response can hold it; remove one of them'
  t.same(checkDocument(documentOf(both)).rejected, [
    `${at}/A/properties/id: ${nowhere}`,
    `${at}/A/properties/own: ${nowhere}`,
    `${at}/B/x-ignored: is reserved for generated schemas; rename it`,
  ])
})

t.test('alternatives must agree about what is writeOnly', async (t) => {
  const shown = { properties: { secret: {} } }
  const problem = (place: string) =>
    `${at}/${place}: secret is writeOnly in one alternative and not in another, so a response could ` +
    'expose it; describe it the same way in each'
  const unlike = {
    Secret: secret,
    A: { oneOf: [to('Secret'), shown] },
    B: { anyOf: [{ allOf: [shown] }, {}, to('Secret')] },
  }
  t.same(checkDocument(documentOf(unlike)).rejected, [problem('A/oneOf'), problem('B/anyOf')])
  const alike = {
    A: { oneOf: [secret, { ...secret, required: ['secret'] }, { properties: { other: {} } }] },
    B: { allOf: [secret], oneOf: [secret, shown] },
    C: { oneOf: [secret, shown], discriminator: { propertyName: 'secret' } },
    D: { anyOf: [{ properties: { secret: { readOnly: true } } }, shown] },
  }
  t.same(checkDocument(documentOf(alike)).rejected, [])
})

t.test('readOnly or writeOnly outside a property gives a warning', async (t) => {
  const schemas = {
    Id: { readOnly: true },
    A: { properties: { id: to('Id'), wrapped: { allOf: [to('Id')] } }, allOf: [secret] },
    B: { items: to('Id'), additionalProperties: { writeOnly: true }, oneOf: [{ readOnly: false }] },
  }
  const requestBodies = { B: { content: { 'application/json': { schema: to('Id') } } } }
  const warning = (place: string, mark: string) =>
    `#/components/${place}: ${mark} has no effect here; set it on a property`
  t.same(checkDocument(documentOf(schemas, '3.1.0', { requestBodies })).warnings, [
    warning('schemas/B/items', 'readOnly'),
    warning('schemas/B/additionalProperties', 'writeOnly'),
    warning('requestBodies/B/content/application~1json/schema', 'readOnly'),
  ])
})

t.test('minProperties or maxProperties that count ignored properties give a warning', async (t) => {
  const id = { type: 'string', readOnly: true }
  const schemas = {
    A: { allOf: [secret], properties: { id }, maxProperties: 2, minProperties: 1 },
    B: { properties: { name: {} }, maxProperties: 2 },
  }
  t.same(
    checkDocument(documentOf(schemas)).warnings,
    ['maxProperties', 'minProperties'].map(
      (keyword) => `${at}/A/${keyword}: counts id, secret when it is sent, although the service ignores it`,
    ),
  )
})

t.test('nullable without a type gives a warning in 3.0 with a fix', async (t) => {
  const wrapped = { nullable: true, allOf: [to('A')] }
  const schemas = {
    A: { type: 'string', nullable: true },
    B: { properties: { wrapped, bare: { nullable: true, enum: ['a'] }, not: { nullable: false, allOf: [to('A')] } } },
    C: { ...to('A'), nullable: true },
  }
  const ineffective = 'nullable has no effect without a type in the same schema; to allow null,'
  const wrapping = 'use anyOf with the schema and { type: object, nullable: true, enum: [null] }'
  t.same(checkDocument(documentOf(schemas, '3.0.3')).warnings, [
    `${at}/B/properties/wrapped: ${ineffective} ${wrapping}`,
    `${at}/B/properties/bare: ${ineffective} add the type`,
    `${at}/C: ${ineffective} ${wrapping}`,
  ])
})

t.test('nullable is ignored in 3.1, with a warning', async (t) => {
  const document = documentOf({ A: { type: 'string', nullable: true }, B: { nullable: false } })
  const ignored = "nullable: belongs to OpenAPI 3.0 and is ignored; to allow null, add the type 'null'"
  t.same(checkDocument(document).warnings, [`${at}/A/${ignored}`, `${at}/B/${ignored}`])
  t.same((asOpenApi31(document).components as { schemas: object }).schemas, { A: { type: 'string' }, B: {} })
})
