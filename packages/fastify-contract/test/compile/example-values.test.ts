import t from 'tap'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import { exampleOf } from '../../src/compile/emit/examples.ts'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const schemas = {
  Tree: {
    type: 'object',
    properties: { name: { examples: ['oak'] }, children: { type: 'array', items: ref('Tree') } },
  },
  Chain: { type: 'object', properties: { next: { oneOf: [ref('Chain'), { type: 'null' }] }, twin: ref('Leaf') } },
  Leaf: { type: 'object', properties: { up: ref('Chain'), leaf: { const: 1 } } },
  Either: { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'object' }] },
  Twice: { type: 'object', properties: { left: ref('Leaf'), right: ref('Leaf') } },
}
const document = { openapi: '3.1.0', info: { title: 'a', version: '1' }, components: { schemas } } as Document

t.test('the example of a recursive schema ends at the recursion', async (t) => {
  t.same(exampleOf(document, ref('Tree')), { name: 'oak', children: [] })
  t.same(exampleOf(document, ref('Either')), [''])
  t.same(exampleOf(document, ref('Chain')), { next: null, twin: { leaf: 1 } })
  const leaf = { up: { next: null }, leaf: 1 }
  t.same(exampleOf(document, ref('Twice')), { left: leaf, right: leaf })
})

t.test('an example has what a condition demands of its values', async (t) => {
  const kind = { enum: ['dog', 'cat'] }
  const condition = {
    if: { properties: { kind: { enum: ['dog'] } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['chip'], properties: { chip: { const: 1 } } },
  }
  t.same(exampleOf(document, { type: 'object', properties: { kind }, allOf: [condition] }), { kind: 'dog', chip: 1 })
  t.same(exampleOf(document, { type: 'object', properties: { kind: { const: 'cat' } }, ...condition }), { kind: 'cat' })
})
