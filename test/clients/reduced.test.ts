import t from 'tap'
import type { BuildContext } from './driver.ts'
import { buildReduced } from './drivers/reduced.ts'

const operations = ['a', 'b', 'c', 'd', 'e']

/** Builds with a generator that fails for some operations. Returns what it was asked for in each attempt. */
async function buildWith(failing: string[], suspects: string[], all = operations) {
  const attempts: string[][] = []
  const context = {
    cases: all.map((operation) => ({ operation, case: 'plain' })),
    documentsWithout: (omitted: string[]) => ({ document: all.filter((id) => !omitted.includes(id)).join() }),
  } as unknown as BuildContext
  const missing = await buildReduced(context, suspects, async ({ document }) => {
    const asked = document.split(',')
    attempts.push(asked)
    const [culprit] = asked.filter((id) => failing.includes(id))
    if (culprit !== undefined)
      throw new Error(`Command failed: generator\nINFO invalid log\nerror: ${culprit} is bad\n`)
  })
  return { missing, attempts }
}

t.test('a document that the generator reads is built once', async (t) =>
  t.same(await buildWith([], []), { missing: {}, attempts: [operations] }),
)

t.test('operations that fail are left out with their messages, and the last build is of the others', async (t) => {
  const { missing, attempts } = await buildWith(['b', 'e'], [])
  t.same(missing, { b: 'error: b is bad', e: 'error: e is bad' })
  t.same(attempts.at(-1), ['a', 'c', 'd'])
})

t.test('a suspect is tried alone, and kept if it does not fail', async (t) => {
  const { missing, attempts } = await buildWith(['b'], ['b', 'c'])
  t.same(missing, { b: 'error: b is bad' })
  t.same(attempts, [['b'], ['c'], ['a', 'c', 'd', 'e']])
})

t.test('a build that fails for more than 20 operations fails with the error of the generator', async (t) => {
  const many = Array.from({ length: 30 }, (_, index) => `operation${index}`)
  await t.rejects(buildWith(many, [], many), /is bad/)
})
