import t from 'tap'
import { withDiscriminators } from '../../src/compile/document/discriminators.ts'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import { serveDocument } from '../support/serve-document.ts'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const object = { type: 'object' }

/** Returns the names that each schema allows in `kind` after its discriminators were applied. */
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

t.test('a document without a discriminator is unchanged', async (t) => {
  const document: Document = { openapi: '3.1.0', info: { title: 'Test', version: '1.0.0' } }
  t.same(withDiscriminators(document), document)
  t.same(names({ A: { properties: { discriminator: { type: 'string' } } } }), {})
})

/** Returns the names that each alternative of a union allows in `kind`. */
function namesIn(union: object, schemas: Record<string, object> = {}): unknown[] {
  const document: Document = {
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    components: { schemas: { A: object, B: object, ...schemas, Union: union } },
  }
  const { Union, ...others } = (withDiscriminators(document).components as { schemas: Record<string, Alternatives> })
    .schemas
  t.match(others, schemas, 'the alternatives stay as they are')
  return [Union?.oneOf, Union?.anyOf].flatMap((list = []) =>
    list.map(({ allOf = [] }) => allOf[1]?.properties.kind.enum),
  )
}

type Narrowed = { allOf?: { properties: { kind: { enum: string[] } } }[] }
type Alternatives = { oneOf?: Narrowed[]; anyOf?: Narrowed[] }

t.test('each alternative allows its own discriminator values, and their union allows all', async (t) => {
  const mapping = { a: '#/components/schemas/A', aa: 'A', other: 'https://example.com/c' }
  const discriminator = { propertyName: 'kind', mapping }
  const all = [ref('A'), ref('B'), object, true, { $ref: '#/components/responses/C' }]
  t.same(namesIn({ oneOf: all, discriminator }), [['a', 'aa'], ['B'], undefined, undefined, undefined])
  t.same(namesIn({ anyOf: [ref('A'), ref('B')], discriminator: { propertyName: 'kind' } }), [['A'], ['B']])
  t.same(namesIn({ type: 'object', discriminator }), [])
})

t.test("a nested union has the mapping's names of its members", async (t) => {
  const schemas = { Pair: { oneOf: [ref('A'), object] } }
  const union = (mapping?: object) => ({
    oneOf: [ref('Pair'), ref('B')],
    discriminator: { propertyName: 'kind', mapping },
  })
  t.same(namesIn(union({ a: '#/components/schemas/A' }), schemas), [['a'], ['B']])
  t.same(namesIn(union({ a: 'A', pair: 'Pair' }), schemas), [['pair', 'a'], ['B']])
  t.same(namesIn(union(), schemas), [['Pair'], ['B']])
  // The prefix has the length of "#/components/schemas/", so the remaining text looks like the name of a schema.
  const elsewhere = { Pair: { oneOf: [{ $ref: '#/components/headers/A' }] } }
  t.equal('#/components/headers/'.length, '#/components/schemas/'.length)
  t.same(namesIn(union({ a: 'A', pair: 'Pair' }), elsewhere), [['pair'], ['B']])
})

t.test("a schema that inherits a discriminator allows its own name and its children's", async (t) => {
  const schemas = {
    Animal: { ...object, discriminator: { propertyName: 'kind', mapping: { dog: 'Dog' } } },
    Dog: { allOf: [ref('Animal')] },
    Poodle: { allOf: [ref('Dog'), object] },
    Circle: { allOf: [ref('Dog'), ref('Circle')] },
  }
  t.same(names(schemas), { Dog: ['dog', 'Poodle', 'Circle'], Poodle: ['Poodle'], Circle: ['Circle'] })
})

t.test('the values that a schema allows decide where its names are not among them', async (t) => {
  const kind = (schema: object) => ({ type: 'object', properties: { kind: schema } })
  const schemas = {
    A: { allOf: [kind({ const: 'a' }), object] },
    B: kind({ $ref: '#/components/schemas/Kind' }),
    Kind: { enum: ['b', 'bb'] },
    Pair: { oneOf: [ref('A'), kind({ enum: ['c'] })] },
    Open: { oneOf: [ref('A'), object] },
    None: { allOf: [kind({ const: 'x' }), kind({ const: 'y' })] },
    Itself: { anyOf: [ref('Itself')] },
  }
  const union = (names: string[], mapping?: object) => ({
    oneOf: names.map(ref),
    discriminator: { propertyName: 'kind', mapping },
  })
  t.same(namesIn(union(['A', 'B']), schemas), [['a'], ['b', 'bb']])
  t.same(namesIn(union(['A', 'B'], { b: 'B', A: 'A' }), schemas), [['a'], ['b']], 'a mapping narrows')
  t.same(namesIn(union(['Pair', 'Open', 'None', 'Itself']), schemas), [['a', 'c'], ['Open'], ['None'], ['Itself']])
  const children = {
    Animal: { ...kind({ enum: ['dog', 'cat'] }), discriminator: { propertyName: 'kind' } },
    Dog: { allOf: [ref('Animal'), kind({ const: 'dog' })] },
    Cat: { allOf: [ref('Animal'), object] },
  }
  t.same(names(children), { Dog: ['dog'], Cat: ['dog', 'cat'] })
})

t.test('a second name of a parent is no child, unless the mapping names it', async (t) => {
  const alias = { nullable: true, description: 'A pet.', allOf: [ref('Animal')] }
  const animal = (mapping?: object) => ({ ...object, discriminator: { propertyName: 'kind', mapping } })
  const Dog = { allOf: [ref('Animal'), object] }
  t.same(names({ Animal: animal({ dog: 'Dog' }), Dog, Alias: alias }), { Dog: ['dog'] })
  t.same(names({ Animal: animal({ dog: 'Dog', a: 'Alias' }), Dog, Alias: alias }), { Dog: ['dog'], Alias: ['a'] })
  t.same(names({ Animal: animal(), Dog, Alias: alias }), { Dog: ['Dog'], Alias: ['Alias'] })
})

t.test('a mapping holds names, pointers and files', async (t) => {
  const mapping = {
    a: 'A',
    b: './schemas/B.yaml',
    c: '#/components/schemas/C',
    d: 'animals.json#/components/schemas/D',
  }
  const all = ['A', 'B', 'C', 'D']
  const union = { oneOf: all.map(ref), discriminator: { propertyName: 'kind', mapping } }
  t.same(namesIn(union, { C: object, D: object }), [['a'], ['b'], ['c'], ['d']])
})

t.test('int64 values of a child are exact where a schema names its parent only', async (t) => {
  const int64 = { type: 'integer', format: 'int64' }
  const discriminator = { propertyName: 'kind', mapping: { dog: 'Dog' } }
  const schemas = {
    Animal: { ...object, required: ['kind'], discriminator, properties: { kind: { type: 'string' } } },
    'Animal.inherited': { type: 'string' },
    Dog: { allOf: [ref('Animal'), { required: ['chip'], properties: { chip: int64 } }] },
    Poodle: { allOf: [ref('Dog'), { properties: { curls: { ...int64, format: 'uint64' } } }] },
    Cat: { allOf: [ref('Animal'), { properties: { friend: ref('Pet'), other: { ...ref('Animal.inherited') } } }] },
    Cow: { allOf: [ref('Animal'), { required: ['milk'] }] },
    Pet: { description: 'Any animal.', allOf: [ref('Animal')] },
  }
  const content = { 'application/json': { schema: ref('Animal') } }
  const app = await serveDocument(
    {
      openapi: '3.1.0',
      info: { title: 'Test', version: '1.0.0' },
      paths: {
        '/': {
          post: {
            operationId: 'add',
            requestBody: { required: true, content },
            responses: { 200: { description: 'd', content } },
          },
        },
      },
      components: { schemas },
    } as Document,
    { handlers: { add: async ({ body }: { body: unknown }) => ({ status: 200, body }) } } as never,
  )
  const statusOf = async (payload: string) => {
    const headers = { 'content-type': 'application/json' }
    const response = await app.inject({ method: 'POST', url: '/', headers, payload })
    if (response.statusCode === 200) t.equal(response.body, payload)
    return response.statusCode
  }
  const exact = [
    '{"kind":"dog","chip":9223372036854775807,"other":1}',
    '{"kind":"Poodle","chip":1152921504606846977,"curls":18446744073709551615}',
    '{"kind":"Cat","friend":{"kind":"dog","chip":-9223372036854775808},"other":"a"}',
    '{"kind":"Cow"}',
    '{"kind":"horse","chip":1.5}',
  ]
  for (const payload of exact) t.equal(await statusOf(payload), 200, payload)
  for (const payload of ['{"kind":"dog"}', '{"kind":"dog","chip":9223372036854775808}', '{"kind":"Poodle","chip":"1"}'])
    t.equal(await statusOf(payload), 400, payload)
})
