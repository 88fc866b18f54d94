import { randomBytes } from 'node:crypto'

/** The token that every server of the benchmark accepts. */
export const token = randomBytes(32).toString('hex')

/** Where ids begin. All ids have eight digits, so that the length of a body does not depend on its id. */
export const firstId = 10_000_000

/** The text of a request, with the placeholders `{id}`, eight digits, and `{operation}`, the id modulo the operations. */
export type Template = string

const plant = (id: string) =>
  `{"id":${id},"name":"Monstera deliciosa, the Swiss cheese plant of Mexico","tag":"indoor"}`

/** The correct response to every request that creates a plant. */
export const createdPlant = '{"name":"Monstera deliciosa, the Swiss cheese plant of Mexico","tag":"indoor"}'

/** A list of plants for `/batches`, with decimal numbers and longer texts. Each plant has about 150 bytes. */
function batch(bytes: number): string {
  const note = 'A climber with large leaves, which have holes. It needs light, but no direct sun.'
  const item = (id: string) => `{"id":${id},"name":"Monstera deliciosa","tag":"indoor","height":1.25,"note":"${note}"}`
  const items = Array.from({ length: Math.round(bytes / item('{id}1234').length) - 1 }, (_, n) => item(String(n)))
  return `[${[item('{id}'), ...items].join()}]`
}

const head = (method: string, path: string) =>
  `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n`

function post(path: string, body: string): Template {
  const length = body.replace('{id}', String(firstId)).length
  return `${head('POST', path)}content-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`
}

export const templates = {
  plant: post('/plants', plant('{id}')),
  /** The id has 16 digits, is odd and above 2^53: a double cannot hold it. */
  exactPlant: post('/plants', plant('9100{id}0003')),
  operation: post('/plants{operation}', plant('{id}')),
  batchOf16KiB: post('/batches', batch(16_384)),
  batchOf200KiB: post('/batches', batch(204_800)),
  list: `${head('GET', '/lists?after={id}')}\r\n`,
  exactList: `${head('GET', '/exact-lists?after={id}')}\r\n`,
}

/** Returns the placeholders and the texts between them, in turns, beginning with a text. */
export const partsOf = (template: Template): string[] => template.split(/\{(id|operation)\}/)

/**
 * Returns a document with `count` operations that create a plant, each with its own schemas, as in a large service, and
 * with one that takes a batch and two that return a list.
 */
export function documentOf(count: number): object {
  const numbers = Array.from({ length: count }, (_, n) => n)
  const text = { type: 'string' }
  const id = { type: 'integer', format: 'int64' }
  const object = (properties: object, required: string[]) => ({ type: 'object', required, properties })
  const newPlant = object({ id, name: text, tag: text }, ['id', 'name'])
  const content = (schema: object) => ({ 'application/json': { schema } })
  const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const responses = (schema: object) => ({
    200: { description: 'The result.', content: content(schema) },
    ...Object.fromEntries([400, 401, 409].map((code) => [code, { description: 'A refusal.', ...errors }])),
    default: { description: 'Another refusal.', ...errors },
  })
  const errors = { content: content(reference('Error')) }
  const postOf = (operationId: string, body: object, reply: object) => ({
    post: { operationId, requestBody: { required: true, content: content(body) }, responses: responses(reply) },
  })
  const listOf = (operationId: string) => ({
    get: {
      operationId,
      parameters: [{ name: 'after', in: 'query', required: true, schema: { type: 'integer', format: 'int32' } }],
      responses: responses({ type: 'array', items: reference('ListedPlant') }),
    },
  })
  return {
    openapi: '3.1.0',
    info: { title: 'Plants', version: '1.0.0' },
    security: [{ bearer: [] }],
    paths: {
      ...Object.fromEntries(
        numbers.map((n) => [`/plants${n}`, postOf(`create${n}`, reference(`NewPlant${n}`), reference(`Plant${n}`))]),
      ),
      '/batches': postOf('countBatch', { type: 'array', items: reference('Item') }, reference('Count')),
      '/lists': listOf('listPlants'),
      '/exact-lists': listOf('listExactPlants'),
    },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: {
        ...Object.fromEntries(
          numbers.flatMap((n) => [
            [`Plant${n}`, object({ name: text, tag: text }, ['name'])],
            [`NewPlant${n}`, newPlant],
          ]),
        ),
        ListedPlant: newPlant,
        Item: object({ id, name: text, tag: text, height: { type: 'number' }, note: text }, [
          'id',
          'name',
          'height',
          'note',
        ]),
        Count: object({ count: { type: 'integer', format: 'int32' } }, ['count']),
        Error: object({ error: { type: 'integer', format: 'int32' }, message: text }, ['error', 'message']),
      },
    },
  }
}
