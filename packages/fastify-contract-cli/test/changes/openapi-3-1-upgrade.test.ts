import { join } from 'node:path'
import t from 'tap'
import { contractChanges } from '../../src/changes/contract-changes.ts'
import type { Document } from '../../src/document/openapi-document.ts'

const text = { type: 'string' }
const documentOf = (openapi: string, properties: object) => ({
  openapi,
  info: { title: 'Boxes', version: '1.0.0' },
  paths: {
    '/boxes': {
      post: {
        operationId: 'make',
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Box' } } } },
        responses: {
          200: {
            description: 'Done',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Box' } } },
          },
        },
      },
    },
  },
  components: { schemas: { Box: { type: 'object', properties }, Size: { type: 'integer', minimum: 1 } } },
})

t.test('the same contract in OpenAPI 3.0 and 3.1 has no changes', async (t) => {
  const older = documentOf('3.0.3', {
    note: { ...text, nullable: true, maxLength: 9, example: 'a' },
    label: { ...text, nullable: false },
    tags: { type: 'array', nullable: true, items: { ...text, nullable: true } },
    size: { type: 'integer', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
    color: { ...text, enum: ['red'] },
    owner: { allOf: [{ $ref: '#/components/schemas/Size' }] },
  })
  const newer = documentOf('3.1.0', {
    note: { anyOf: [{ ...text, maxLength: 9 }, { type: 'null' }], examples: ['a'] },
    label: { type: ['string'] },
    tags: { type: ['null', 'array'], items: { oneOf: [text, { type: 'null' }] } },
    size: { type: 'integer', exclusiveMinimum: 0, maximum: 9 },
    color: { ...text, const: 'red' },
    owner: { $ref: '#/components/schemas/Size' },
  })
  const directory = t.testdir({ 'older.json': JSON.stringify(older), 'newer.json': JSON.stringify(newer) })
  const at = (name: string) => join(directory, name)
  const changes = await contractChanges(at('older.json'), at('newer.json'), newer as unknown as Document)
  t.same(
    changes.filter(({ weight }) => weight !== 'text').map(({ weight, what }) => `${weight} ${what}`),
    [],
  )
})
