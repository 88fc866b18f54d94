import type { McpTable } from 'fastify-contract/mcp'
import t from 'tap'
import { compileDocument } from '../../src/emit/compile.ts'
import type { Document } from '../../src/testing.ts'

const int64 = { type: 'integer', format: 'int64' }
const digits = { type: 'string', pattern: '^-?[0-9]{1,20}$', description: 'An int64 as a string of digits.' }
const text = { type: 'string' }
const object = { type: 'object' }
const json = (schema?: unknown) => ({
  description: 'A response.',
  content: { 'application/json': schema === undefined ? {} : { schema } },
})
const shared = (name: string) => ({ $ref: `#/components/schemas/${name}` })

const schemas = {
  Id: int64,
  Point: { type: 'object', required: ['x'], properties: { x: { type: 'number' } } },
  Nested: { type: 'object', properties: { id: int64, inner: { anyOf: [shared('Nested'), { type: 'null' }] } } },
  User: {
    type: 'object',
    required: ['name'],
    properties: { name: text, password: { ...text, writeOnly: true }, since: { ...text, readOnly: true } },
  },
}

/** Compiles a document whose only tool has the given responses; returns the tool. */
async function toolOf(responses: object, more: object = {}, method = 'get') {
  const operation = { operationId: 'one', 'x-mcp': true, responses, ...more }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Tools', version: '1.0.0' },
    security: [],
    paths: { '/one': { [method]: operation } },
    components: { schemas },
  }
  const { files } = await compileDocument(document as unknown as Document, 'tools.yaml')
  const { tools } = JSON.parse(files['mcp.json'] as string) as McpTable
  return tools[0] as McpTable['tools'][number]
}

const outputOf = async (responses: object, method?: string) => (await toolOf(responses, {}, method)).outputSchema

t.test('the output schema is that of the JSON bodies of all successful responses', async (t) => {
  const error = json({ type: 'object', properties: { message: text } })
  t.match(await outputOf({ 200: json(shared('Point')), default: error }), { type: 'object', $ref: '#/$defs/Point' })
  t.same(await outputOf({ 200: json({ type: 'array', items: text }) }), { type: 'array', items: text })
  t.same(await outputOf({ 200: json() }), {})
  t.same(await outputOf({ 200: json(true) }), {})
  t.match(await outputOf({ 200: json(shared('Point')), 201: json(shared('Point')) }), { $ref: '#/$defs/Point' })
  t.match(await outputOf({ 200: json(shared('Point')), '2XX': json(shared('User')) }), {
    type: 'object',
    anyOf: [{ $ref: '#/$defs/Point' }, { $ref: /^#\/\$defs\/User/ }],
  })
  t.match(await outputOf({ default: json(shared('Point')) }), { type: 'object', $ref: '#/$defs/Point' })
})

t.test('a tool whose successful responses are not all JSON has no output schema', async (t) => {
  const point = json(shared('Point'))
  const plain = { description: 'Text.', content: { 'text/plain': {} } }
  t.equal(await outputOf({ 200: point, 204: { description: 'Nothing.' } }), undefined)
  t.equal(await outputOf({ 200: point, 202: plain }), undefined)
  t.equal(
    await outputOf({ 200: { description: 'Either.', content: { ...point.content, ...plain.content } } }),
    undefined,
  )
  t.equal(await outputOf({ 200: point, 304: { description: 'The same.' } }), undefined)
  t.equal(await outputOf({ 200: point }, 'head'), undefined)
  t.equal(await outputOf({ 404: point }), undefined)
})

t.test('the type of an output schema is object exactly if each value is one', async (t) => {
  const typeOf = async (schema: unknown) => (await outputOf({ 200: json(schema) }))?.type
  t.equal(await typeOf({ allOf: [{ required: ['x'] }, shared('Point')] }), 'object')
  t.equal(await typeOf({ oneOf: [shared('Point'), shared('Nested')] }), 'object')
  t.equal(await typeOf({ anyOf: [shared('Point'), { type: 'null' }] }), undefined)
  t.equal(await typeOf({ anyOf: [shared('Point'), {}] }), undefined)
  t.same(await typeOf({ type: ['object', 'null'] }), ['object', 'null'])
})

t.test('an output schema holds for values whose int64 are strings of digits', async (t) => {
  const tests = { if: { properties: { id: { const: 1 } } }, else: { required: ['id'] }, not: { required: ['none'] } }
  const properties = { id: int64, either: { oneOf: [int64, text] }, both: { anyOf: [int64], oneOf: [int64, text] } }
  t.same(await outputOf({ 200: json({ ...object, properties, ...tests }) }), {
    ...object,
    properties: { id: digits, either: { anyOf: [digits, text] }, both: { anyOf: [digits] } },
  })
  const kept = { ...object, properties: { name: { oneOf: [{ const: 'a' }, { const: 'b' }] } }, ...tests }
  t.match(await outputOf({ 200: json(kept) }), { not: tests.not, properties: { name: { oneOf: [{}, {}] } } })
  t.match(await outputOf({ 200: json(shared('Nested')) }), {
    $ref: '#/$defs/Nested',
    $defs: { Nested: { properties: { id: digits, inner: { anyOf: [{ $ref: '#/$defs/Nested' }, { type: 'null' }] } } } },
  })
  const large = 9_007_199_254_740_993n
  t.match(await outputOf({ 200: json({ ...int64, const: large }), 201: json({ ...int64, enum: [large, 1] }) }), {
    anyOf: [{ const: String(large) }, { enum: [String(large), '1'] }],
  })
})

t.test('each schema of an int64 accepts its string of digits', async (t) => {
  const properties = {
    id: { ...int64, default: 3, examples: [4] },
    both: { allOf: [int64, { type: 'integer' }] },
    mixed: { allOf: [int64, { type: 'number' }] },
    either: { anyOf: [int64, { type: ['number', 'null'], minimum: 0.5, title: 'Either' }] },
    chosen: { ...shared('Id'), enum: [1, 2, 'none'], default: 1 },
    fixed: { allOf: [shared('Id'), { const: 1 }] },
    held: {
      type: 'object',
      properties: { id: int64 },
      enum: [{ id: 1 }],
      examples: [{ id: 1 }],
      default: { name: 'a' },
    },
    count: { type: 'integer', enum: [1], default: 1 },
  }
  const body = { ...object, properties, required: ['id'], 'x-team': 'own' }
  const choice = { oneOf: [body, shared('Id')] }
  const { inputSchema, outputSchema } = await toolOf({ 200: json(choice) }, { requestBody: json(choice) }, 'post')
  const mixed = {
    type: ['string', 'number'],
    pattern: digits.pattern,
    description: 'An integer is a string of digits.',
  }
  const expected = {
    id: { ...digits, default: '3', examples: ['4'] },
    both: { allOf: [digits, digits] },
    mixed: { allOf: [digits, mixed] },
    either: { anyOf: [digits, { ...mixed, type: ['string', 'number', 'null'], title: 'Either' }] },
    chosen: { $ref: '#/$defs/Id', enum: [1, '1', 2, '2', 'none'] },
    fixed: { allOf: [{ $ref: '#/$defs/Id' }, { enum: [1, '1'] }] },
    held: { type: 'object', properties: { id: digits }, default: { name: 'a' } },
    count: { type: 'integer', enum: [1], default: 1 },
  }
  const described = { anyOf: [{ ...object, properties: expected, required: ['id'] }, { $ref: '#/$defs/Id' }] }
  t.same(inputSchema.properties, { body: described })
  t.same(outputSchema, { ...described, $defs: { Id: digits } })
})

t.test('an output has what only responses have, and no schema asks clients for headers', async (t) => {
  const marked = { ...text, 'x-mcp-header': 'Region' }
  const parameters = [{ name: 'region', in: 'query', schema: marked }]
  const { inputSchema, outputSchema } = await toolOf({ 200: json(shared('User')) }, { parameters })
  t.match(JSON.stringify(outputSchema), '"since"')
  t.notMatch(JSON.stringify(outputSchema), 'password')
  t.match(inputSchema, { properties: { query: { properties: { region: text } } } })
  t.notMatch(JSON.stringify(inputSchema), 'x-mcp-header')
})

t.test('the annotations follow from the method, and x-mcp has the last word', async (t) => {
  const responses = { 200: json({}) }
  const of = async (method: string, mark: unknown = true) =>
    (await toolOf(responses, { 'x-mcp': mark }, method)).annotations
  const safe = { readOnlyHint: true, destructiveHint: false, idempotentHint: true }
  for (const method of ['get', 'head', 'options']) t.same(await of(method), safe, method)
  t.same(await of('put'), { readOnlyHint: false, destructiveHint: true, idempotentHint: true })
  t.same(await of('delete'), { readOnlyHint: false, destructiveHint: true, idempotentHint: true })
  t.same(await of('post'), { readOnlyHint: false, idempotentHint: false })
  t.same(await of('patch'), { readOnlyHint: false, idempotentHint: false })
  const annotations = { readOnlyHint: true, openWorldHint: false }
  t.same(await of('post', { annotations }), { ...annotations, idempotentHint: false })
  const own = { name: 'other', title: 'Another', description: 'Does it.' }
  const summary = { summary: 'One', description: 'Does one.' }
  t.match(await toolOf(responses, { 'x-mcp': own, ...summary }), { ...own, operationId: 'one' })
  t.match(await toolOf(responses, { 'x-mcp': {}, ...summary }), { name: 'one', title: 'One', description: 'Does one.' })
  t.match(await toolOf(responses, summary), { name: 'one', operationId: undefined, title: 'One' })
})
