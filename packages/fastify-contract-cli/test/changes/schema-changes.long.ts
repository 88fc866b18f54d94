import { join } from 'node:path'
import t from 'tap'
import { contractChanges } from '../../src/changes/contract-changes.ts'
import { type Position, positions } from './expected-severity.ts'
import { documentOf, verdicts } from './schema-verdicts.ts'

/** Patterns of reasons that cannot be true where a schema is only sent, or only returned. */
const untrueReasons: Partial<Record<Position, RegExp>> = {
  sent: /returned|find it|response|no longer required|widened|gained/,
  returned: /accepted|send|leave it out|became required|narrowed|lost/,
}

t.test('a schema edit is classified by its effect on values that are sent, returned or both', async (t) => {
  const [before, after] = [documentOf('before'), documentOf('after')]
  const directory = t.testdir({ 'before.json': JSON.stringify(before), 'after.json': JSON.stringify(after) })
  const changes = await contractChanges(join(directory, 'before.json'), join(directory, 'after.json'), after)
  for (const [row, verdict] of verdicts.entries())
    for (const position of positions) {
      const own = new RegExp(`#/(paths/~1|components/schemas/)${position}${row}(?!\\d)`)
      const found = changes.filter(({ what }) => own.test(what))
      t.equal(found[0]?.weight, verdict[position], `${verdict.edit}: ${position}`, { found })
      const untrue = found.filter(({ what }) => untrueReasons[position]?.test(what))
      t.same(untrue, [], `${verdict.edit}: ${position}: each reason is true`)
    }
})

t.test('the client receives webhook bodies, and an unreferenced schema counts as sent and returned', async (t) => {
  const text = { type: 'string' }
  const document = (event: object, unused: object) => ({
    openapi: '3.1.0',
    info: { title: 'Events', version: '1.0.0' },
    paths: {},
    webhooks: {
      grown: {
        post: {
          requestBody: { content: { 'application/json': { schema: { type: 'object', ...event } } } },
          responses: { 204: { description: 'Read.' } },
        },
      },
    },
    components: { schemas: { Unused: { type: 'object', ...unused }, Other: text } },
  })
  const before = document({ properties: { name: text, note: text } }, { properties: { name: text } })
  const after = document(
    {
      required: ['height'],
      properties: { height: { type: 'integer', format: 'int64' }, note: { ...text, readOnly: true } },
    },
    { properties: {} },
  )
  const directory = t.testdir({ 'before.json': JSON.stringify(before), 'after.json': JSON.stringify(after) })
  const changes = await contractChanges(join(directory, 'before.json'), join(directory, 'after.json'), after)
  const event = '#/webhooks/grown/post/requestBody/content/application~1json/schema'
  t.same(changes.map(({ weight, what }) => [weight, what]).sort(), [
    [
      'breaking',
      'removed #/components/schemas/Unused/properties/name: No operation refers to the schema, but code that uses its type may use this name.',
    ],
    ['breaking', `removed ${event}/properties/name: Property \`name\` was removed.`],
    ['compatible', `added ${event}/properties/height`],
    ['compatible', `modified ${event}/properties/note/readOnly`],
    ['compatible', `modified ${event}/required`],
  ])
})
