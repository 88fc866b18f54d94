import type { Document } from 'fastify-contract-cli/testing'
import t from 'tap'
import type { Schema } from '../../src/contract/schema-keywords.ts'
import { evaluateSchemaCode, loadSchemaCode, schemaCode } from '../../src/schema/schema-code.ts'
import { compileRoutes, serveRoutes } from '../support/serve-document.ts'

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const text = { type: 'string', minLength: 1 }
const id = { type: 'integer', format: 'int64' }
const content = (schema: Schema) => ({ 'application/json': { schema } })
const schemas = {
  Name: { ...text, pattern: '^[a-z]+$' },
  Tree: {
    type: 'object',
    required: ['id'],
    properties: {
      id,
      name: reference('Name'),
      kind: { enum: ['leaf', { deep: 1 }] },
      below: { type: 'array', items: reference('Tree') },
    },
  },
  Node: { anyOf: [{ required: ['none'] }, { type: 'object', properties: { id, next: reference('Edge') } }] },
  Edge: { type: 'object', properties: { to: reference('Node') }, unevaluatedProperties: false },
  Part: { type: 'object', properties: { day: { type: 'string', format: 'date' } } },
}
const document = {
  openapi: '3.1.0',
  info: { title: 'Trees', version: '1.0.0' },
  paths: {
    '/trees/{id}': {
      put: {
        operationId: 'putTree',
        parameters: [
          { name: 'id', in: 'path', required: true, schema: id },
          { name: 'size', in: 'query', schema: { type: 'integer', multipleOf: 3, maximum: 9 } },
        ],
        requestBody: { required: true, content: content(reference('Tree')) },
        responses: {
          200: {
            description: 'The tree.',
            headers: { 'X-Size': { schema: text } },
            content: content(reference('Tree')),
          },
        },
      },
    },
    '/nodes': {
      put: {
        operationId: 'putNode',
        requestBody: { required: true, content: content(reference('Node')) },
        responses: { 200: { description: 'The node.', content: content(reference('Node')) } },
      },
    },
    '/edges': {
      put: {
        operationId: 'putEdge',
        requestBody: { required: true, content: content(reference('Edge')) },
        responses: { 204: { description: 'Read.' } },
      },
    },
    '/forms': {
      post: {
        operationId: 'postForm',
        requestBody: {
          required: true,
          content: {
            'multipart/form-data': { schema: { type: 'object', properties: { part: reference('Part') } } },
            'application/x-www-form-urlencoded': { schema: { type: 'object', properties: { day: reference('Name') } } },
          },
        },
        responses: { 204: { description: 'Read.' } },
      },
    },
  },
  components: { schemas },
} as unknown as Document

const handlers = {
  putTree: async ({ body }: { body: unknown }) => ({ status: 200, headers: { 'X-Size': 'small' }, body }),
  putNode: async ({ body }: { body: unknown }) => ({ status: 200, body }),
  putEdge: async () => ({ status: 204, body: undefined }),
  postForm: async ({ body, contentType }: { body: AsyncIterable<unknown>; contentType: string }) => {
    if (contentType === 'multipart/form-data') for await (const _part of body);
    return { status: 204, body: undefined }
  },
}

t.test('a valid request and its response compile no schema', async (t) => {
  const routes = compileRoutes(document)
  const code = evaluateSchemaCode(schemaCode(routes))
  // Ajv would throw for these schemas.
  routes.schemas = Object.fromEntries(Object.keys(schemas).map((name) => [name, { type: 'nothing' }]))
  const app = serveRoutes(routes, { handlers: handlers as never, schemaCode: code })
  t.teardown(() => app.close())
  const send = async (method: 'PUT' | 'POST', url: string, payload: string, type = 'application/json') => {
    const { statusCode, body } = await app.inject({ method, url, payload, headers: { 'content-type': type } })
    return [statusCode, body]
  }
  const tree = '{"id":9007199254740993,"name":"a","kind":{"deep":1},"below":[{"id":1}]}'
  t.same(await send('PUT', '/trees/9223372036854775807?size=6', tree), [200, tree])
  const node = '{"id":9007199254740993,"next":{"to":{"id":2}}}'
  t.same(await send('PUT', '/nodes', node), [200, node])
  t.same(await send('PUT', '/edges', '{"to":{"next":{}}}'), [204, ''])
  const form = '--x\r\ncontent-disposition: form-data; name="part"\r\n\r\n{"day":"2026-01-31"}\r\n--x--\r\n'
  t.same(await send('POST', '/forms', form, 'multipart/form-data; boundary=x'), [204, ''])
  t.same(await send('POST', '/forms', 'day=monday', 'application/x-www-form-urlencoded'), [204, ''])
})

t.test('equal schemas share their code', async (t) => {
  const operation = (operationId: string) => ({
    post: {
      operationId,
      requestBody: { required: true, content: content({ type: 'object', properties: { name: text } }) },
      responses: { 200: { description: 'ok', content: content({ type: 'object', properties: { name: text } }) } },
    },
  })
  const codeOf = (names: string[]) =>
    schemaCode(
      compileRoutes({
        ...document,
        paths: Object.fromEntries(names.map((name) => [`/${name}`, operation(name)])),
      } as unknown as Document),
    )
  const functions = (code: string) => code.match(/^function \w+/gm)
  t.same(functions(codeOf(['one'])), ['function validate0', 'function write0'])
  t.same(functions(codeOf(['one', 'two', 'three'])), functions(codeOf(['one'])))
})

t.test('a response has a validator only if its serializer may not prove a value valid', async (t) => {
  const proven = { type: 'array', items: { type: 'object', properties: { name: text } } }
  const unproven = { type: 'object', properties: { names: { type: 'array', uniqueItems: true } } }
  const validators = (schema: Schema, mediaType = 'application/json') => {
    const responses = { 200: { description: 'ok', content: { [mediaType]: { schema } } } }
    const get = { operationId: 'getNode', responses }
    return schemaCode(compileRoutes({ ...document, paths: { '/nodes': { get } } } as unknown as Document)).match(
      /^function validate\w+/gm,
    )
  }
  t.equal(validators(proven), null)
  t.equal(validators({ ...proven, items: unproven })?.length, 1)
  t.equal(validators(reference('Node'))?.length, 2)
  t.equal(validators(text, 'text/plain')?.length, 1)
  t.equal(validators(proven, '*/*'), null)
})

t.test('the same document gives the same code', async (t) => {
  t.equal(schemaCode(compileRoutes(document)), schemaCode(compileRoutes(document)))
})

t.test('a chain of references that is too long to compile at once validates and converts every level', async (t) => {
  const count = 100
  const ring = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `Ring${index}`,
      { type: 'object', properties: { id, next: reference(`Ring${(index + 1) % count}`) } },
    ]),
  )
  const put = {
    operationId: 'putNode',
    requestBody: { required: true, content: content(reference('Ring0')) },
    responses: { 200: { description: 'The ring.', content: content(reference('Ring0')) } },
  }
  const routes = compileRoutes({
    ...document,
    paths: { '/nodes': { put } },
    components: { schemas: ring },
  } as unknown as Document)
  const nested = (levels: number, inner: string): string =>
    `${'{"id":9007199254740993,"next":'.repeat(levels)}${inner}${'}'.repeat(levels)}`
  for (const code of [evaluateSchemaCode(schemaCode(routes)), undefined]) {
    const app = serveRoutes(routes, { handlers: { putNode: handlers.putNode } as never, schemaCode: code })
    t.teardown(() => app.close())
    const send = async (payload: string) => {
      const headers = { 'content-type': 'application/json' }
      const { statusCode, body } = await app.inject({ method: 'PUT', url: '/nodes', payload, headers })
      return [statusCode, body]
    }
    const valid = nested(count, '{"id":9223372036854775807}')
    t.same(await send(valid), [200, valid])
    const [status, body] = await send(nested(count, '{"id":"1"}'))
    t.equal(status, 400)
    t.match(body, /next.*must be an int64 integer/)
  }
})

t.test(
  'the code converts int64 integers and removes readOnly properties also where a union accepts any value',
  async (t) => {
    const one = { type: 'object', properties: { id, made: { ...text, readOnly: true } } }
    const schema = { type: 'object', properties: { first: { anyOf: [one, {}] }, second: { anyOf: [text, one, true] } } }
    const routes = compileRoutes({
      ...document,
      paths: {
        '/nodes': { put: { operationId: 'putNode', requestBody: { content: content(schema) }, responses: {} } },
      },
      components: {},
    } as unknown as Document)
    const read: unknown[] = []
    const reading = { putNode: async ({ body }: { body: unknown }) => ({ status: 204, body: void read.push(body) }) }
    for (const code of [evaluateSchemaCode(schemaCode(routes)), undefined]) {
      const app = serveRoutes(routes, { handlers: reading as never, schemaCode: code })
      t.teardown(() => app.close())
      const value = '{"id":9223372036854775807,"made":"now"}'
      const payload = `{"first":${value},"second":${value}}`
      const headers = { 'content-type': 'application/json' }
      await app.inject({ method: 'PUT', url: '/nodes', payload, headers })
    }
    const converted = { id: 2n ** 63n - 1n }
    const both = { first: converted, second: converted }
    t.same(read, [both, both])
  },
)

t.test('an inherited member does not count as one of a value', async (t) => {
  const schema = { type: 'object', required: ['constructor', 'a"b'], properties: { constructor: {}, 'a"b': text } }
  const put = {
    operationId: 'putNode',
    requestBody: { required: true, content: content({ type: 'array', items: schema }) },
    // minProperties makes the validator check each value.
    responses: { 200: { description: 'The first.', content: content({ ...schema, minProperties: 1 }) } },
  }
  const routes = compileRoutes({ ...document, paths: { '/nodes': { put } }, components: {} } as unknown as Document)
  const returning = {
    putNode: async ({ body: [first] }: { body: { constructor: string; 'a"b': string }[] }) => {
      const isInherited = first?.['a"b'] === 'inherited'
      return { status: 200, body: isInherited ? Object.assign(Object.create(first), { constructor: 'a' }) : first }
    },
  }
  for (const code of [evaluateSchemaCode(schemaCode(routes)), undefined]) {
    const app = serveRoutes(routes, { handlers: returning as never, schemaCode: code })
    t.teardown(() => app.close())
    const send = async (payload: string) => {
      const headers = { 'content-type': 'application/json' }
      const { statusCode, body } = await app.inject({ method: 'PUT', url: '/nodes', payload, headers })
      return [statusCode, body]
    }
    const own = '{"constructor":"a","a\\"b":"b"}'
    t.same(await send(`[${own}]`), [200, own])
    t.match((await send('[{"a\\"b":"b"}]')).join(), /400.*body\/0 must have required property 'constructor'/)
    t.equal((await send(own.replace('"b"}', '"inherited"}').replace(/.*/, '[$&]')))[0], 500)
  }
})

t.test('the validators of the code keep no errors, and texts of the document stay as they are', async (t) => {
  const texts = [
    'const err0 = {};if(vErrors === null){vErrors = [err0];}else {vErrors.push(err0);}',
    'validate0.errors = vErrors;',
    '{instancePath, parentData',
    'const _errs1 = errors;if(errors === _errs1){',
    ' && func0.call(data0, "a")',
    'let vErrors = null;',
  ]
  // A member of this name, which is passed to a function.
  const instancePath = { type: 'integer', format: 'int64' }
  const alternatives = [{ enum: texts }, { type: 'object', required: texts, properties: { instancePath } }]
  const schema = { type: 'array', items: { oneOf: [...alternatives, { not: { type: ['string', 'object'] } }] } }
  const put = {
    operationId: 'putNode',
    requestBody: { required: true, content: content(schema) },
    responses: { 200: { description: 'The texts.', content: content(schema) } },
  }
  const routes = compileRoutes({ ...document, paths: { '/nodes': { put } }, components: {} } as unknown as Document)
  const code = evaluateSchemaCode(schemaCode(routes))
  t.notMatch(schemaCode(compileRoutes(document)), /vErrors|\.errors|instancePath/)
  const app = serveRoutes(routes, { handlers: { putNode: handlers.putNode } as never, schemaCode: code })
  t.teardown(() => app.close())
  const send = async (value: unknown) => {
    const headers = { 'content-type': 'application/json' }
    return (await app.inject({ method: 'PUT', url: '/nodes', payload: JSON.stringify(value), headers })).statusCode
  }
  const members = Object.fromEntries(texts.map((one) => [one, 1]))
  t.equal(await send([...texts, 1, { ...members, instancePath: 1 }]), 200)
  t.equal(await send([{ ...members, instancePath: 'a' }]), 400)
  for (const name of texts) {
    t.equal(await send([name.slice(1)]), 400, name)
    t.equal(await send([{ ...members, [name]: undefined }]), 400, name)
  }
})

t.test('an object with 20,000 properties has a serializer', (t) => {
  const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`name${index}`, text]))
  const get = {
    operationId: 'getNode',
    responses: { 200: { description: 'A node.', content: content({ type: 'object', properties }) } },
  }
  const routes = compileRoutes({ ...document, paths: { '/nodes': { get } }, components: {} } as unknown as Document)
  t.match(schemaCode(routes), 'name19999')
  t.end()
})

t.test('an object with 2,500 required properties has a validator that checks the last one', async (t) => {
  const names = Array.from({ length: 2_500 }, (_, index) => `name${index}`)
  const properties = Object.fromEntries(names.map((name) => [name, text]))
  const put = {
    operationId: 'putNode',
    requestBody: { required: true, content: content({ type: 'object', required: names, properties }) },
    responses: { 204: { description: 'Read.' } },
  }
  const routes = compileRoutes({ ...document, paths: { '/nodes': { put } }, components: {} } as unknown as Document)
  const { validators } = loadSchemaCode(evaluateSchemaCode(schemaCode(routes)), routes)
  const [validate] = validators.values()
  const isValid = (value: object) => validate?.(value, { rootData: { value } } as never)
  const valid = Object.fromEntries(names.map((name) => [name, 'a']))
  t.equal(isValid(valid), true)
  t.equal(isValid({ ...valid, name2499: '' }), false)
  t.equal(isValid({ ...valid, name2499: undefined }), false)
})
