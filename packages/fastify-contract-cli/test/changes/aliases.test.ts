import { join } from 'node:path'
import t from 'tap'
import { contractChanges } from '../../src/changes/contract-changes.ts'

const components = {
  parameters: { name: 'size', in: 'query', schema: { type: 'integer', maximum: 9 } },
  requestBodies: {
    content: { 'application/json': { schema: { type: 'object', properties: { a: { type: 'string' } } } } },
  },
  responses: { description: 'Done.', content: { 'application/json': { schema: { type: 'string', maxLength: 9 } } } },
  headers: { schema: { type: 'integer', maximum: 9 } },
}
const narrower = {
  parameters: { ...components.parameters, schema: { type: 'integer', maximum: 5 } },
  requestBodies: { content: { 'application/json': { schema: { type: 'object', required: ['a'] } } } },
  responses: { description: 'Done.', content: { 'application/json': { schema: { type: 'integer' } } } },
  headers: { schema: { type: 'string' } },
}

/** Returns a document whose components are reached through a number of references; 0 writes them in place. */
function documentOf(steps: number, targets: Record<keyof typeof components, object>) {
  const chain = (kind: keyof typeof components) =>
    Object.fromEntries(
      Array.from({ length: steps }, (_, index) => [
        `Step${index + 1}`,
        index + 1 === steps ? targets[kind] : { $ref: `#/components/${kind}/Step${index + 2}` },
      ]),
    )
  const use = (kind: keyof typeof components) => (steps === 0 ? targets[kind] : { $ref: `#/components/${kind}/Step1` })
  const kinds = Object.keys(components) as (keyof typeof components)[]
  return {
    openapi: '3.1.0',
    info: { title: 'Aliases', version: '1.0.0' },
    paths: {
      '/a': {
        post: {
          operationId: 'a',
          parameters: [use('parameters')],
          requestBody: use('requestBodies'),
          responses: { 200: use('responses'), 201: { description: 'Made.', headers: { 'X-Size': use('headers') } } },
        },
      },
    },
    ...(steps > 0 && { components: Object.fromEntries(kinds.map((kind) => [kind, chain(kind)])) }),
  }
}

t.test('a component behind one reference or several is compared as if it were written in place', async (t) => {
  const changesOf = async (older: object, newer: object) => {
    const directory = t.testdir({ 'older.json': JSON.stringify(older), 'newer.json': JSON.stringify(newer) })
    const changes = await contractChanges(join(directory, 'older.json'), join(directory, 'newer.json'), newer as never)
    const all = changes.map(({ weight, what }) => `${weight}: ${what}`)
    // The list of the components itself does change.
    return all.filter((change) => !/^compatible: (?:added|removed) #\/components\b/.test(change))
  }
  for (const [from, to] of [
    [0, 1],
    [1, 3],
    [3, 0],
  ] as const)
    t.same(await changesOf(documentOf(from, components), documentOf(to, components)), [], `${from} to ${to}`)
  for (const kind of Object.keys(components) as (keyof typeof components)[]) {
    const changes = await changesOf(documentOf(3, components), documentOf(1, { ...components, [kind]: narrower[kind] }))
    t.ok(
      changes.some((change) => change.startsWith('breaking')),
      `${kind}: ${changes}`,
    )
  }
})
