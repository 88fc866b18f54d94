import t from 'tap'
import type { Document } from '../../src/document/openapi-document.ts'
import { servedDocument } from '../../src/emit/served-document.ts'
import { lenientDocument } from '../../src/passes/lenient/lenient-document.ts'

const prefix = '#/components/schemas/'

function served(schema: object, schemas: Record<string, object> = {}) {
  const responses = { 200: { description: '', content: { 'application/json': { schema } } } }
  const document = {
    openapi: '3.1.0',
    info: { title: 'A', version: '1.0.0' },
    paths: { '/a': { get: { operationId: 'getA', responses } } },
    components: { schemas },
  } as unknown as Document
  return servedDocument(lenientDocument(document).mended, 'api.json', {})
}

/** Returns schemas, each of which refers to the next one. */
const chain = (length: number, toNext: ($ref: string) => object) =>
  Object.fromEntries(
    Array.from({ length }, (_, index) => [
      `S${index}`,
      index === length - 1 ? { type: 'string' } : toNext(`${prefix}S${index + 1}`),
    ]),
  )

t.test('a chain of 10,000 schemas passes the rules and the passes', async (t) => {
  const chains = {
    properties: ($ref: string) => ({ type: 'object', properties: { next: { $ref } } }),
    references: ($ref: string) => ({ $ref }),
    parts: ($ref: string) => ({ allOf: [{ $ref }] }),
  }
  for (const [name, toNext] of Object.entries(chains)) {
    const { routes, warnings } = served({ $ref: `${prefix}S0` }, chain(10_000, toNext))
    t.equal(Object.keys(routes.schemas).length, 10_000, name)
    t.same(warnings, [], name)
  }
})

t.test('schemas that are nested 500 deep pass the rules and the passes', async (t) => {
  let schema: object = { type: 'string' }
  for (let depth = 0; depth < 500; depth++) schema = { type: 'object', properties: { a: schema } }
  t.equal(served(schema).routes.operations.length, 1)
})
