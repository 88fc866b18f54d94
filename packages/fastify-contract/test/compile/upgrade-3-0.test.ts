import t from 'tap'
import { asOpenApi31 } from '../../src/compile/document/normalize.ts'

const translated = (schema: object) => {
  const document = { openapi: '3.0.4', components: { schemas: { nullable: schema } } }
  return (asOpenApi31(document) as typeof document).components.schemas.nullable
}

t.test('schemas of 3.0 keep their meaning in 3.1', async (t) => {
  const cases: [object, object][] = [
    [{ type: 'string', nullable: true }, { type: ['string', 'null'] }],
    [{ type: 'string', nullable: false }, { type: 'string' }],
    [{ nullable: true }, {}],
    [{ $ref: '#/a', nullable: true, description: 'b' }, { $ref: '#/a' }],
    [
      { minimum: 1, exclusiveMinimum: true, maximum: 2, exclusiveMaximum: false },
      { exclusiveMinimum: 1, maximum: 2 },
    ],
    [{ exclusiveMinimum: true }, {}],
    [
      { items: { type: 'integer', nullable: true }, default: { nullable: true } },
      { items: { type: ['integer', 'null'] }, default: { nullable: true } },
    ],
    [
      { properties: { nullable: { type: 'string', nullable: true }, enum: { type: 'string', nullable: true } } },
      { properties: { nullable: { type: ['string', 'null'] }, enum: { type: ['string', 'null'] } } },
    ],
    [
      { enum: [{ nullable: true }, null], allOf: [{ type: 'object', nullable: true }] },
      { enum: [{ nullable: true }, null], allOf: [{ type: ['object', 'null'] }] },
    ],
  ]
  for (const [schema, expected] of cases) t.same(translated(schema), expected)
})

t.test('a document of 3.1 is unchanged', async (t) => {
  const document = { openapi: '3.1.1', components: { schemas: { A: { $ref: '#/b', title: 'A' } } } }
  t.equal(asOpenApi31(document), document)
})

t.test('a $recursiveRef is a $ref to the shared schema that holds it, if that is certain', async (t) => {
  const tree = { type: 'object', properties: { up: { $recursiveRef: '#', title: 'Up' } } }
  const upgraded = (schemas: object) => asOpenApi31({ openapi: '3.1.0', components: { schemas } }).components.schemas
  const served = { type: 'object', properties: { up: { $ref: '#/components/schemas/Tree', title: 'Up' } } }
  t.same(upgraded({ Tree: tree, Other: {} }), { Tree: served, Other: {} })
  t.same(upgraded({ Tree: { ...tree, $recursiveAnchor: true } }), { Tree: { ...served, $recursiveAnchor: true } })
  const anchored = { $recursiveAnchor: true }
  const unclear = {
    Tree: { ...tree, ...anchored },
    Other: { ...anchored, allOf: [{ $ref: '#/components/schemas/Tree' }] },
  }
  t.same(upgraded(unclear), unclear)
})

t.test('upgrading twice changes nothing, siblings of a $ref included', async (t) => {
  const document = asOpenApi31({ openapi: '3.0.4', components: { schemas: { A: { type: 'string', nullable: true } } } })
  t.match(document, { openapi: '3.1.0', components: { schemas: { A: { type: ['string', 'null'] } } } })
  t.equal(asOpenApi31(document), document)
})
