import { parseJson } from 'fastify-contract/json'
import * as engine from 'fastify-contract/schema'
import { bothValidators } from 'fastify-contract-test-support/both-validators'
import t, { type Test } from 'tap'
import { compileContract } from '../../src/emit/compile.ts'

type Files = { [name: string]: string | Files }

type Options = { version?: string; more?: string }

const head = (version = '3.1.0') => `openapi: ${version}
info: { title: A, version: 1.0.0 }
paths:
  /a:
    post:
      operationId: postA
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/A' } } } }
      responses: { '204': { description: Done. } }
components:
  schemas:
`

/** Compiles a document with these shared schemas and files. A request has the schema A. */
async function compiled(t: Test, schemas: string, { version, more = '', ...files }: Files & Options = {}) {
  const before = process.cwd()
  process.chdir(t.testdir({ 'openapi.yaml': head(version) + schemas.replace(/^/gm, '    ') + more, ...files }))
  try {
    const { routes, ...result } = await compileContract('openapi.yaml')
    const body = routes.operations[0]?.schema.body?.content['application/json']?.schema ?? false
    const validate = bothValidators(engine, routes).request(body, 'body')
    const isValid = (value: unknown) => 'value' in validate(parseJson(asText(value)))
    const { components } = JSON.parse(result.files['openapi.json'] as string) as { components: { schemas: object } }
    return { ...result, isValid, schemas: components.schemas as Record<string, object> }
  } finally {
    process.chdir(before)
  }
}

/** Returns JSON: a text that is JSON already stays as it is. */
const asText = (value: unknown): string => (/^\{"/.test(String(value)) ? String(value) : JSON.stringify(value))

const values = (isValid: (value: unknown) => boolean, valid: unknown[], invalid: unknown[]) => (t: Test) => {
  for (const value of valid) t.ok(isValid(value), JSON.stringify(value))
  for (const value of invalid) t.notOk(isValid(value), JSON.stringify(value))
}

t.test('a generic list has a copy for each schema that gives its items a meaning', async (t) => {
  const { isValid, schemas, files, warnings } = await compiled(
    t,
    `A: { properties: { pets: { $ref: pets }, tags: { $ref: tags }, any: { $ref: list }, more: { $ref: pets } } }
List:
  $id: list
  type: object
  required: [items]
  properties: { items: { type: array, items: { $dynamicRef: '#item' } } }
  $defs: { any: { $dynamicAnchor: item } }
Pets: { $id: pets, $ref: list, $defs: { pet: { $dynamicAnchor: item, $ref: '#/components/schemas/Pet' } } }
Tags: { $id: tags, $ref: list, $defs: { tag: { $dynamicAnchor: item, type: string } } }
Pet: { type: object, required: [name], properties: { name: { type: string }, size: { type: integer, format: int64 } } }
`,
  )
  values(
    isValid,
    [{ pets: { items: [{ name: 'a' }] }, tags: { items: ['a'] }, any: { items: [1, {}] } }],
    [{ pets: { items: [{}] } }, { tags: { items: [1] } }, { more: { items: ['a'] } }, { any: {} }],
  )(t)
  t.same(warnings, [])
  t.same(Object.keys(schemas), ['A', 'List', 'Pets', 'Tags', 'Pet', 'List.Pet', 'List.Tags'])
  t.notMatch(files['openapi.json'] as string, /dynamic|resource|\$id/)
  t.match(files['api.d.ts'] as string, /type ListPet = \{\s+"?items"?: components\["schemas"\]\["Pet"\]\[\]/)
})

t.test('a dynamic reference of a tree leads to the outermost extension of the tree', async (t) => {
  const { isValid, schemas } = await compiled(
    t,
    `A: { properties: { strict: { $ref: strict.json }, free: { $ref: './tree.yaml' }, old: { $ref: '#/components/schemas/Old' } } }
Old: { $ref: '#/components/schemas/Older', $recursiveAnchor: true, unevaluatedProperties: false }
Older: { $recursiveAnchor: true, properties: { down: { items: { $recursiveRef: '#' } }, same: { $ref: '#/components/schemas/Only' } } }
Only: { properties: { up: { $recursiveRef: '#', title: Up }, n: { type: integer } } }
`,
    {
      'tree.yaml': `$dynamicAnchor: node
type: object
properties: { data: { type: integer }, children: { type: array, items: { $dynamicRef: '#node' } } }
`,
      'strict.json': JSON.stringify({ $dynamicAnchor: 'node', $ref: 'tree.yaml', unevaluatedProperties: false }),
    },
  )
  const both = { children: [{ children: [{ data: 1 }] }] }
  values(
    isValid,
    [
      { strict: both, free: both },
      { free: { children: [{ children: [{ odd: 1 }] }] } },
      { old: { down: [{ down: [] }] } },
    ],
    [
      { strict: { children: [{ children: [{ odd: 1 }] }] } },
      { free: { children: [1] } },
      { old: { down: [{ odd: 1 }] } },
    ],
  )(t)
  values(isValid, [{ old: { same: { up: { n: 1 } } } }], [{ old: { same: { up: { n: 'a' } } } }])(t)
  t.same(Object.keys(schemas).sort(), ['A', 'Old', 'Older', 'Older.Old', 'Only', 'strict', 'tree', 'tree.strict'])
})

t.test('schemas without $id are resources of their own if they share a dynamic anchor', async (t) => {
  const at = '#/components/schemas'
  const { isValid, warnings } = await compiled(
    t,
    `A:
  type: object
  properties:
    users: { $defs: { itemType: { $dynamicAnchor: itemType, $ref: '${at}/User' } }, $ref: '${at}/Page' }
    one: { $ref: '${at}/UserPage' }
    two: { allOf: [{ $ref: '${at}/Page' }, { $ref: '${at}/Binding' }] }
Page: { properties: { items: { items: { $dynamicRef: '#itemType' } } }, $defs: { itemType: { $dynamicAnchor: itemType, not: {} } } }
User: { type: object, required: [name] }
UserPage: { $ref: '${at}/Page', $defs: { itemType: { $dynamicAnchor: itemType, $ref: '${at}/User' } } }
Binding: { $defs: { itemType: { $dynamicAnchor: itemType } } }
`,
  )
  const named = { items: [{ name: 'a' }] }
  values(
    isValid,
    [{ users: named, one: named, two: { items: [] } }],
    [{ users: { items: [{}] } }, { one: { items: [{}] } }],
  )(t)
  t.match(
    warnings.map((line) => line.replace(/ .*/, '')),
    ['A', 'Page', 'UserPage', 'Binding'].map((name) => `${at}/${name}:`),
  )
})

t.test('alternatives that become copies keep their discriminator values', async (t) => {
  const union = (mapping: string) => `A: { $id: a, $ref: union, $defs: { n: { $dynamicAnchor: n, type: integer } } }
Union: { $id: union, type: object, required: [kind], oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }, { $ref: '#/components/schemas/Eel' }], discriminator: { propertyName: kind${mapping} } }
Cat: { $id: cat, properties: { kind: { type: string }, a: { $dynamicRef: '#n' } }, $defs: { n: { $dynamicAnchor: n } } }
Dog: { type: object, properties: { kind: { type: string }, b: { $ref: cat } } }
Eel: { type: object, properties: { kind: { type: string } } }
`
  const { isValid } = await compiled(t, union(''))
  values(
    isValid,
    [{ kind: 'Cat', a: 1 }, { kind: 'Dog', b: {} }, { kind: 'Eel' }],
    [{ kind: 'Cat', a: 'a' }, { kind: 'Cat.n' }],
  )(t)
  const mapped = await compiled(t, union(`, mapping: { c: Cat, dog: '#/components/schemas/Dog' }`))
  values(
    mapped.isValid,
    [
      { kind: 'c', a: 1 },
      { kind: 'dog', b: { a: 1 } },
    ],
    [{ kind: 'c', a: 'a' }, { kind: 'dog', b: { a: 'a' } }, { kind: 'Cat' }],
  )(t)
})

t.test('a dynamic reference that has no certain target is refused with the reason', async (t) => {
  const list = `List: { $id: list, items: { $dynamicRef: '#item' }, $defs: { item: { $dynamicAnchor: item } } }\n`
  const cases: [string, RegExp][] = [
    [`A: { items: { $dynamicRef: '#item' } }\n`, /A\/items: #item does not resolve \(no schema has this \$anchor\)/],
    [
      `A: { $id: a, $ref: list, $defs: { x: { $dynamicAnchor: item }, y: { $dynamicAnchor: item } } }\n${list}`,
      /List\/items\/%24dynamicRef: #item is ambiguous, since one schema resource has two such anchors/,
    ],
    [
      `A: { $id: a, $ref: list, $defs: { x: { $dynamicAnchor: item, type: string } } }
List: { $id: list, $ref: '#/components/schemas/Base', items: { $dynamicRef: '#item' }, $defs: { item: { $dynamicAnchor: item } } }
Base: { type: object, discriminator: { propertyName: kind } }
`,
      /List\/items\/%24dynamicRef: a schema that needs a copy inherits a discriminator/,
    ],
    [
      `A: { prefixItems: [${Array.from({ length: 1001 }, (_, i) => `{ $ref: l${i} }`).join()}] }\n${list}${Array.from(
        { length: 1001 },
        (_, i) => `L${i}: { $id: l${i}, $ref: list, $defs: { x: { $dynamicAnchor: item, minimum: ${i} } } }\n`,
      ).join('')}`,
      /List\/items\/%24dynamicRef: the dynamic references need more than 1000 copies of schemas/,
    ],
  ]
  for (const [schemas, message] of cases) await t.rejects(compiled(t, schemas), { message })
})

t.test('a schema of an earlier draft is translated', async (t) => {
  const draft = (name: string, schema: object) =>
    JSON.stringify({ $schema: `http://json-schema.org/${name}#`, ...schema })
  for (const version of ['3.0.4', '3.1.0']) {
    const { isValid, warnings, schemas } = await compiled(
      t,
      `A:
  type: object
  properties:
    four: { $ref: four.json }
    ${version === '3.0.4' ? 'six' : 'seven'}: { $ref: seven.json#/definitions/${version === '3.0.4' ? 'n' : 'pair'} }
    ref: { $ref: seven.json#/definitions/ref }
    newer: { $ref: newer.json }
    any: { $ref: any.json }
`,
      {
        version,
        'four.json': draft('draft-04/schema', {
          id: 'http://example.invalid/four',
          type: 'object',
          properties: { n: { minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false } },
          dependencies: { a: ['b'], c: { required: ['d'] } },
          additionalItems: false,
        }),
        'seven.json': draft('draft-07/schema', {
          definitions: {
            pair: {
              items: [{ type: 'string' }, { $ref: '#/definitions/n' }],
              additionalItems: { $ref: '#/definitions/n' },
            },
            n: { $id: '#n', type: 'integer' },
            ref: { description: 'R', $ref: '#n', type: 'string' },
          },
        }),
        'newer.json': draft('draft/2019-09/schema', {
          items: [],
          additionalItems: { type: 'string' },
          $ref: 'any.json',
        }),
        'any.json': draft('schema', { const: ['a'] }),
      },
    )
    values(
      isValid,
      [{ four: { n: 2, a: 1, b: 1 } }, { four: { n: 9, c: 1, d: 1 } }, { ref: 1 }, { newer: ['a'] }],
      [{ four: { n: 1 } }, { four: { a: 1 } }, { four: { c: 1 } }, { ref: 'a' }],
    )(t)
    values(isValid, [{ any: ['a'] }], [{ any: ['b'] }])(t)
    if (version === '3.1.0') {
      values(isValid, [{ seven: ['a', 1, 2] }], [{ seven: ['a', 'b'] }, { seven: ['a', 1, 'b'] }])(t)
      values(isValid, [], [{ newer: [1] }, { newer: ['b'] }])(t)
    }
    t.notMatch(JSON.stringify(schemas), /\$schema|\$id|"id"/)
    const read = 'is read as JSON Schema 2020-12; what that writes in another way is translated'
    t.same(
      warnings.filter((line) => line.includes(read)),
      [
        ['four.json:1:12', 'draft-04/schema'],
        ['seven.json:1:12', 'draft-07/schema'],
        ['newer.json:1:12', 'draft/2019-09/schema'],
      ].map(([place, dialect]) => `#/%24schema: http://json-schema.org/${dialect}# ${read} (${place})`),
    )
  }
})

t.test('a dialect that is not known is refused, and ignored where OpenAPI knows no dialects', async (t) => {
  const schema = `A: { $schema: 'http://json-schema.org/draft-03/schema#', type: string }\n`
  const at = '#/components/schemas/A/%24schema'
  await t.rejects(compiled(t, schema), {
    message: `${at}: http://json-schema.org/draft-03/schema# is not supported; use JSON Schema 2020-12, or draft 4 to 2019-09`,
  })
  const { isValid, warnings } = await compiled(t, schema, { version: '3.0.4' })
  values(isValid, ['a'], [1])(t)
  t.match(warnings, [
    `${at}: http://json-schema.org/draft-03/schema# is ignored, and the schema is read as one of OpenAPI`,
  ])
})

t.test('a dialect of the whole document is that of its schemas', async (t) => {
  const dialect = '\njsonSchemaDialect: https://json-schema.org/draft-06/schema'
  const schema = 'A: { items: [{ type: string }], dependencies: { a: [b] } }'
  const { isValid, warnings, files } = await compiled(t, schema, { more: dialect })
  values(isValid, [['a'], { b: 1 }], [[1], { a: 1 }])(t)
  t.same(warnings, [])
  t.notMatch(files['openapi.json'] as string, /jsonSchemaDialect/)
})

t.test('a large limit is exact, or means the same when it is rounded', async (t) => {
  const { isValid, warnings } = await compiled(
    t,
    `A:
  properties:
    exact: { type: integer, format: int64, minimum: -9.0071992547409935e+16, maximum: 9007199254740.993E3 }
    any: { type: integer, maximum: 1.7976931348623157e+308, exclusiveMinimum: -1e30 }
    text: { type: string, maxLength: 9223372036854775807, minLength: 1 }
    list: { maxItems: 9223372036854775807, contains: true, maxContains: 9223372036854775807 }
    none: { maxProperties: 18446744073709551615, minItems: 9223372036854775807 }
`,
  )
  const valid = [
    '{"exact":9007199254740993}',
    '{"exact":-90071992547409935}',
    '{"any":1,"text":"a","list":[1],"none":{}}',
  ]
  for (const text of valid) t.ok(isValid(text), text)
  for (const text of ['{"exact":9007199254740994}', '{"exact":-90071992547409936}', '{"text":""}', '{"none":[]}'])
    t.notOk(isValid(text), text)
  t.same(warnings, [])
})

t.test('a dynamic reference beside a $ref applies, too', async (t) => {
  const { isValid } = await compiled(
    t,
    `A: { $id: a, $ref: base, $dynamicRef: 'base#more', $defs: { more: { $dynamicAnchor: more, required: [b] } } }
Base: { $id: base, required: [a], $defs: { any: { $dynamicAnchor: more }, same: { $dynamicRef: '#/$defs/any' } } }
`,
  )
  values(isValid, [{ a: 1, b: 1 }], [{ a: 1 }, { b: 1 }])(t)
})

t.test('contains of JSON Schema 2019-09 evaluates no items', async (t) => {
  const { isValid, schemas } = await compiled(t, 'A: { $ref: ./a.yaml }\nB: { $ref: ./b.yaml }\n', {
    'a.yaml': `$schema: https://json-schema.org/draft/2019-09/schema
type: object
properties:
  list: { items: [{ type: integer }], contains: { type: string }, maxContains: 1, unevaluatedItems: { type: 'null' } }
  more: { allOf: [{ contains: { type: string } }], unevaluatedItems: { enum: [a, 1] } }
`,
    'b.yaml': `$schema: https://json-schema.org/draft/2019-09/schema
contains: true
allOf: [true]
`,
  })
  t.same(schemas.b, { allOf: [true, { not: { not: { contains: true } } }] })
  const lists = [{ list: [1, null] }, { list: [1, 'a'] }, { list: ['a'] }, { list: [1, 'a', null] }]
  const more = [{ more: ['a', 1] }, { more: ['b'] }, { more: [1] }]
  t.same(lists.map(isValid), [false, false, false, false])
  t.same(more.map(isValid), [true, false, false])
})

t.test('contains of an earlier draft stays as it is where no items are counted', async (t) => {
  const { schemas } = await compiled(t, 'A: { $ref: ./a.yaml }\n', {
    'a.yaml': '$schema: http://json-schema.org/draft-07/schema#\ncontains: { type: string }\n',
  })
  t.same(schemas.a, { contains: { type: 'string' } })
})
