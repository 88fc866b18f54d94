import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { diagnose } from 'fastify-contract-test-support/compiler'
import t from 'tap'
import { compileContract } from '../../src/emit/compile.ts'
import { ownPath } from '../support/own-path.ts'
import { serveRoutes } from '../support/serve-document.ts'

const numbers = Array.from({ length: 500 }, (_, number) => number)

const item = (number: number) => ({
  parameters: [{ name: 'item-id', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } }],
  post: {
    operationId: `add${number}`,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: `#/components/schemas/Item${number}` } } },
    },
    responses: {
      200: {
        description: 'The same.',
        content: { 'application/json': { schema: { $ref: `#/components/schemas/Item${number}` } } },
      },
    },
  },
})

/** Returns the number of the schema `step` places further in a group of ten, whose schemas refer to each other. */
const near = (number: number, step: number) => number - (number % 10) + ((number + step) % 10)
const schema = (number: number) => ({
  type: 'object',
  required: ['number'],
  properties: {
    number: { const: number },
    next: { $ref: `#/components/schemas/Item${near(number, 1)}` },
    far: { $ref: `#/components/schemas/Item${near(number, 3)}` },
  },
})

const document = {
  openapi: '3.1.0',
  info: { title: 'Five hundred operations', version: '1' },
  paths: Object.fromEntries(numbers.map((number) => [`/items${number}/{item-id}`, item(number)])),
  components: { schemas: Object.fromEntries(numbers.map((number) => [`Item${number}`, schema(number)])) },
}

t.test('five hundred operations are generated, compiled and served', async (t) => {
  const path = join(t.testdir(), 'openapi.json')
  writeFileSync(path, JSON.stringify(document))
  const { contract, files } = await compileContract(path, { rules: ownPath('test/documents/redocly.yaml') })

  const imports = `import type { Handlers } from './handler-types.d.ts'
    export const handlers: Handlers = {`
  const compile = (count: number) =>
    diagnose([ownPath('test/documents/handlers.ts')], {
      [ownPath('test/documents/api.d.ts')]: files['api.d.ts'] as string,
      [ownPath('test/documents/handler-types.d.ts')]: files['handler-types.d.ts'] as string,
      [ownPath('test/documents/handlers.ts')]: [
        imports,
        ...numbers.slice(0, count).map((number) => `add${number}: async ({ body }) => ({ status: 200, body }),`),
        '}',
      ].join('\n'),
    })
  t.same(compile(500), [])
  t.match(compile(499), [/TS2741 Property 'add499' is missing/])

  const add = async ({ body }: { body: unknown }) => ({ status: 200, body })
  const handlers = Object.fromEntries(numbers.map((number) => [`add${number}`, add]))
  const app = await serveRoutes(contract.routes, { handlers })
  const post = (url: string, payload: object) => app.inject({ method: 'POST', url, payload })
  for (const number of [0, 7, 499]) {
    const body = { number, next: { number: near(number, 1), far: { number: near(number, 4) } } }
    t.same((await post(`/items${number}/1`, body)).json(), body)
    t.match((await post(`/items${number}/1`, { number, next: { number } })).json(), { error: 40003 })
    t.match((await post(`/items${number}/x`, body)).json(), { error: 40003 })
  }
  t.equal((await post('/items500/1', {})).statusCode, 404)
})
