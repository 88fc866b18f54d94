const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const text = { type: 'string' }

/** Returns an operation that sends a schema and receives it. */
function operationOf(operationId: string, schema: object): object {
  const content = { 'application/json': { schema } }
  return { operationId, requestBody: { required: true, content }, responses: { 200: { description: 'ok', content } } }
}

function documentOf(schemas: object[], operations: object[]): object {
  return {
    openapi: '3.1.0',
    info: { title: 'Shapes', version: '1.0.0' },
    paths: Object.fromEntries(operations.map((post, n) => [`/operations${n}`, { post }])),
    components: { schemas: Object.fromEntries(schemas.map((schema, n) => [`S${n}`, schema])) },
  }
}

const listOf = <T>(count: number, item: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => item(n))

/** Functions that return a document with `count` schemas, or one schema in `count` places, by the name of its shape. */
export const documentShapes: Record<string, (count: number) => object> = {
  'chain of allOf': (count) =>
    documentOf(
      listOf(count, (n) => ({
        type: 'object',
        properties: { [`p${n}`]: text },
        ...(n + 1 < count && { allOf: [reference(`S${n + 1}`)] }),
      })),
      [operationOf('sendChain', reference('S0'))],
    ),
  'ring of references': (count) =>
    documentOf(
      listOf(count, (n) => ({ type: 'object', properties: { next: reference(`S${(n + 1) % count}`) } })),
      listOf(count, (n) => operationOf(`send${n}`, reference(`S${n}`))),
    ),
  'operations with a schema each': (count) =>
    documentOf(
      listOf(count, (n) => ({ type: 'object', required: ['name'], properties: { name: text, [`p${n}`]: text } })),
      listOf(count, (n) => operationOf(`send${n}`, reference(`S${n}`))),
    ),
  'operations that share one schema': (count) =>
    documentOf(
      [{ type: 'object', required: ['name'], properties: { name: text } }],
      listOf(count, (n) => operationOf(`send${n}`, reference('S0'))),
    ),
}
