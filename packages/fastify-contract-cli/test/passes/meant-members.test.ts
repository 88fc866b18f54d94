import { join } from 'node:path'
import t from 'tap'
import type { Document } from '../../src/document/openapi-document.ts'
import { compileContract } from '../../src/emit/compile.ts'
import { lenientDocument } from '../../src/passes/lenient/lenient-document.ts'

const schemaOf = (schema: object, openapi = '3.1.0') => {
  const given = { openapi, info: { title: 'A', version: '1' }, components: { schemas: { A: schema } } }
  const { mended, advice } = lenientDocument(given as never)
  const { components } = mended as Document & { components: { schemas: { A: object } } }
  return [components.schemas.A, advice] as const
}

t.test('a keyword in another case is read as the keyword, unless the schema has it in two cases', async (t) => {
  const cases: [given: object, expected: object, read: string[]][] = [
    [{ type: 'string', maxlength: 5 }, { type: 'string', maxLength: 5 }, ['maxlength']],
    [{ Type: 'object', Properties: {} }, { type: 'object', properties: {} }, ['Type', 'Properties']],
    [{ maxlength: 5, maxLength: 6 }, { maxLength: 6 }, []],
    [{ maxlength: 5, MAXLENGTH: 6 }, {}, []],
    [{ ADDITIONALPROPERTIES: false }, { additionalProperties: false }, ['ADDITIONALPROPERTIES']],
    [{ Title: { type: 'string' } }, {}, []],
    [{ $Ref: '#/components/schemas/A' }, {}, []],
    [{ lengthMax: 1 }, {}, []],
  ]
  for (const [given, expected, read] of cases) {
    const [schema, advice] = schemaOf(given)
    t.same(schema, expected, JSON.stringify(given))
    t.same(
      advice.filter((line) => line.includes('read as')).map((line) => /A\/(\w+):/.exec(line)?.[1]),
      read,
    )
    t.equal(advice.length, Object.keys(given).filter((name) => !Object.hasOwn(expected, name)).length)
  }
})

t.test('a list of items is read as prefixItems', async (t) => {
  const line = (text: string) => `#/components/schemas/A/items: is ${text}`
  const list = 'a list; read as prefixItems; rename it for JSON Schema 2020-12'
  const cases: [given: object, expected: object, advice: string[]][] = [
    [{ items: [true] }, { prefixItems: [true] }, [line(list)]],
    [{ items: [] }, {}, [line('an empty list, and ignored; remove it')]],
    [{ items: [true], prefixItems: [false] }, { items: [true], prefixItems: [false] }, []],
  ]
  for (const [given, expected, advice] of cases) t.same(schemaOf(given), [expected, advice])
  const [schema, [advice]] = schemaOf({ items: [true], additionalItems: false })
  t.same(schema, { prefixItems: [true], items: false })
  t.match(advice, 'read as prefixItems, and additionalItems as items;')
})

t.test('a reference below a field in another case leads to its own file', async (t) => {
  const path = join(import.meta.dirname, '../rules/mistakes/field-in-another-case-in-two-files/openapi.yaml')
  const { files } = await compileContract(path)
  const { schemas } = JSON.parse(files['openapi.json'] as string).components
  t.same(schemas, {
    Key: { type: 'integer' },
    'Key-2': { type: 'string' },
    Order: { type: 'object', properties: { key: { $ref: '#/components/schemas/Key-2' } } },
  })
})

t.test('security in another case is read as the field, unless it opens the operation', async (t) => {
  const securityOf = (Security: unknown) => {
    const get = { Security, responses: {} }
    const components = { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } }
    const given = { openapi: '3.1.0', info: { title: 'A', version: '1' }, paths: { '/a': { get } }, components }
    const { mended } = lenientDocument(given as never)
    return (Object(mended.paths)['/a'] as { get: { security?: unknown } }).get.security
  }
  t.same(securityOf([{ key: [] }]), [{ key: [] }])
  for (const open of [[], [{}], [{ key: [] }, {}], null, 'none'])
    t.equal(securityOf(open), undefined, JSON.stringify(open))
})

t.test('a parameter without a schema is a string, unless it is ignored or a whole query', async (t) => {
  const parametersOf = (...parameters: object[]) => {
    const given = { openapi: '3.1.0', info: { title: 'A', version: '1' }, paths: { '/a': { parameters } } }
    const { mended, advice } = lenientDocument(given as never)
    return [(Object(mended.paths)['/a'] as { parameters: object[] }).parameters, advice] as const
  }
  const schema = { type: 'string' }
  const [read, advice] = parametersOf({ name: 'a', in: 'query' }, { name: 'b', in: 'Header', schema: null })
  t.same(read, [
    { name: 'a', in: 'query', schema },
    { name: 'b', in: 'header', schema },
  ])
  t.match(advice, [
    '#/paths/~1a/parameters/0: parameter a has no schema; it is served as a string of any form; add one',
    /parameters\/1\/in: must be/,
    '#/paths/~1a/parameters/1/schema: is null, and ignored; remove it',
    /parameters\/1: parameter b has no schema/,
  ])
  const others = [
    { name: 'a', in: 'querystring' },
    { name: 'Accept', in: 'header' },
    { name: 'b', in: 'query', content: {} },
    { in: 'query' },
    { $ref: '#/components/parameters/A' },
  ]
  t.same(parametersOf(...others), [others, []])
})
