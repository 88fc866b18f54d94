import t from 'tap'
import { withDiscriminators } from '../../../scripts/generate/discriminators.ts'
import type { Document } from '../../../scripts/generate/openapi-document.ts'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const object = { type: 'object' }

/** The names that each schema allows in `kind`, after its discriminators were heard. */
function names(schemas: Record<string, object>): Record<string, unknown> {
  const document: Document = { openapi: '3.1.0', info: { title: 'Test', version: '1.0.0' }, components: { schemas } }
  const { schemas: narrowed } = withDiscriminators(document).components as {
    schemas: Record<string, { allOf?: object[] }>
  }
  return Object.fromEntries(
    Object.entries(narrowed).flatMap(([name, { allOf = [] }]) => {
      const last = allOf.at(-1) as { properties?: { kind?: { enum: string[] } }; required?: string[] } | undefined
      return last?.properties?.kind === undefined ? [] : [[name, last.properties.kind.enum]]
    }),
  )
}

t.test('a document without a discriminator stays as it is', async (t) => {
  const document: Document = { openapi: '3.1.0', info: { title: 'Test', version: '1.0.0' } }
  t.equal(withDiscriminators(document), document)
  t.same(names({ A: { properties: { discriminator: { type: 'string' } } } }), {})
})

t.test('of alternatives each allows its own names', async (t) => {
  const mapping = { a: '#/components/schemas/A', aa: 'A', other: 'https://example.com/c' }
  const discriminator = { propertyName: 'kind', mapping }
  t.same(names({ A: object, B: object, U: { oneOf: [ref('A'), ref('B'), object], discriminator } }), {
    A: ['a', 'aa'],
    B: ['B'],
  })
  t.same(names({ A: object, B: object, U: { anyOf: [ref('A'), ref('B')], discriminator: { propertyName: 'kind' } } }), {
    A: ['A'],
    B: ['B'],
  })
})

t.test('what two discriminators call a schema are all of its names', async (t) => {
  const named = (name: string) => ({ propertyName: 'kind', mapping: { [name]: 'A' } })
  const schemas = { A: object, U: { oneOf: [ref('A')], discriminator: named('a') } }
  t.same(names({ ...schemas, V: { oneOf: [ref('A')], discriminator: named('b') } }), { A: ['a', 'b'] })
})

t.test('what inherits a discriminator allows its own name and those below it', async (t) => {
  const schemas = {
    Animal: { ...object, discriminator: { propertyName: 'kind', mapping: { dog: 'Dog' } } },
    Dog: { allOf: [ref('Animal')] },
    Poodle: { allOf: [ref('Dog'), object] },
    Circle: { allOf: [ref('Dog'), ref('Circle')] },
  }
  t.same(names(schemas), { Dog: ['dog', 'Poodle', 'Circle'], Poodle: ['Poodle'], Circle: ['Circle'] })
})
