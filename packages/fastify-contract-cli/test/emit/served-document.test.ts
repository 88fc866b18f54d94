import t from 'tap'
import type { Document } from '../../src/document/openapi-document.ts'
import { servedDocument } from '../../src/emit/served-document.ts'

const parameter = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } })
const of = (name: string, schema: object = {}) => ({
  get: {
    operationId: name,
    parameters: [parameter(name)],
    responses: { 200: { description: 'Done.', content: { 'application/json': { schema } } } },
  },
})
const anchored = { $anchor: 'one' }

function partOf(paths: object, schemas: object = {}) {
  const document = { openapi: '3.2.0', info: { title: 'A', version: '1.0.0' }, paths, components: { schemas } }
  const { routes, skipped } = servedDocument(document as Document, 'a.yaml', { skipUnsupported: true })
  return {
    served: routes.operations.map(({ operationId }) => operationId),
    skipped: skipped.map(({ operations, text }) => `${operations}: ${text.replace(/[;,].*/, '')}`),
  }
}

t.test('of operations with one route the first is served, beside operations with other problems', async (t) => {
  t.same(partOf({ '/{a}': of('a'), '/{b}': of('b'), '/c/{c}': of('c', anchored) }), {
    served: ['a'],
    skipped: ['GET /{b}: GET /{b} is already served by another operation', 'GET /c/{c}: is not supported'],
  })
})

t.test('an operation is served if the other one of its route has a problem', async (t) => {
  const skipped = ['GET /{a}: is not supported']
  t.same(partOf({ '/{a}': of('a', anchored), '/{b}': of('b') }), { served: ['b'], skipped })
  const shared = { '/{a}': of('a', { $ref: '#/components/schemas/Bad' }), '/{b}': of('b'), '/{c}': of('c') }
  t.same(partOf(shared, { Bad: anchored, Good: {} }), {
    served: ['b'],
    skipped: [...skipped, 'GET /{c}: GET /{c} is already served by another operation'],
  })
})

t.test('an operation is served if the other one of its route has a problem without a component', async (t) => {
  const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const discriminator = { propertyName: 'kind', defaultMapping: 'Other' }
  const schemas = {
    Parent: { type: 'object', properties: { kind: { type: 'string' } }, discriminator },
    Other: { allOf: [reference('Parent'), anchored] },
  }
  const paths = { '/{a}': of('a', reference('Parent')), '/{b}': of('b'), '/c/{c}': of('c', reference('Other')) }
  t.same(partOf(paths, schemas), {
    served: ['b'],
    skipped: [
      'GET /c/{c}: is not supported',
      'GET /{a}: must refer to an alternative in the oneOf or anyOf of the same schema',
    ],
  })
})
