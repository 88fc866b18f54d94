import * as fc from 'fast-check'
import { fixedSeed } from 'fastify-contract-test-support/fixed-seed'
import t from 'tap'
import { type Create, type History, linearizabilityViolation, type Read } from './plant-history.ts'

const create = (outcome: Create['outcome'], content: string, start: number, end: number): Create => ({
  outcome,
  content,
  start,
  end,
})
const read = (content: string | undefined, start: number, end = start): Read => ({
  outcome: 'read',
  content,
  start,
  end,
})

const explained: Record<string, History> = {
  'no operation': [],
  'a write, its retry, a conflict and a read': [
    create('kept', 'a', 0, 1),
    create('kept', 'a', 2, 3),
    create('conflict', 'b', 2, 3),
    read('a', 4),
  ],
  'writes that overlap, of which the last one to begin wins': [
    create('conflict', 'a', 0, 9),
    create('kept', 'b', 8, 10),
  ],
  'an end and a start at the same time': [create('conflict', 'a', 0, 5), create('kept', 'b', 5, 6)],
  'a write without an answer that never happens': [create('unknown', 'a', 0, 1), create('kept', 'b', 2, 3)],
  'a write without an answer that happens': [create('unknown', 'a', 0, 1), create('conflict', 'b', 2, 3)],
  'a write that happens long after its client gave up': [
    create('unknown', 'a', 0, 1),
    read(undefined, 5),
    create('conflict', 'b', 6, 7),
    read('a', 8),
  ],
  'one of two writes without an answer': [
    create('unknown', 'a', 0, 1),
    create('unknown', 'b', 0, 1),
    create('conflict', 'a', 2, 3),
    create('kept', 'b', 4, 5),
  ],
  'writes without an answer, and nothing in the end': [create('unknown', 'a', 0, 1), read(undefined, 2)],
}

const unexplained: Record<string, { history: History; why: string }> = {
  'two contents kept': {
    history: [create('kept', 'a', 0, 9), create('kept', 'b', 0, 9)],
    why: 'two contents were kept',
  },
  'a kept plant that was overwritten': {
    history: [create('kept', 'a', 0, 1), create('unknown', 'b', 2, 3), read('b', 4)],
    why: 'two contents were kept',
  },
  'a kept plant that is lost': {
    history: [create('kept', 'a', 0, 1), read(undefined, 2)],
    why: 'kept, and missing later',
  },
  'a conflict with a plant that is lost': {
    history: [create('unknown', 'a', 0, 1), create('conflict', 'b', 2, 3), read(undefined, 4)],
    why: 'kept, and missing later',
  },
  'a retry in conflict with itself': {
    history: [create('kept', 'a', 0, 1), create('conflict', 'a', 2, 3)],
    why: 'a conflict with the same content',
  },
  'a conflict alone': { history: [create('conflict', 'a', 0, 1)], why: 'a conflict with nothing' },
  'a conflict that ends before the winner begins': {
    history: [create('conflict', 'a', 0, 4), create('kept', 'b', 5, 6)],
    why: 'an effect before its create began',
  },
  'a conflict that ends before the write without an answer begins': {
    history: [create('conflict', 'a', 0, 4), create('unknown', 'b', 5, 6)],
    why: 'an effect before its create began',
  },
  'all writes in conflict': {
    history: [create('conflict', 'a', 0, 9), create('conflict', 'b', 0, 9)],
    why: 'a conflict with nothing',
  },
  'conflicts with each of two writes without an answer': {
    history: [
      create('unknown', 'a', 0, 1),
      create('unknown', 'b', 0, 1),
      create('conflict', 'a', 2, 3),
      create('conflict', 'b', 2, 3),
    ],
    why: 'a conflict with the same content',
  },
  'content that was never sent': {
    history: [create('unknown', 'a', 0, 1), read('b', 2)],
    why: 'content that no create had',
  },
}

for (const [name, history] of Object.entries(explained))
  t.test(`${name}: explained`, async (t) => t.equal(linearizabilityViolation(history), undefined))

for (const [name, { history, why }] of Object.entries(unexplained))
  t.test(`${name}: unexplained`, async (t) => t.equal(linearizabilityViolation(history), why))

/** Searches all orders that real time allows, on a register whose content is undefined until it is set. */
function hasOrder(pending: History, register?: string): boolean {
  if (pending.every(({ outcome }) => outcome === 'unknown')) return true
  const firstEnd = Math.min(
    ...pending.map(({ outcome, end }) => (outcome === 'unknown' ? Number.POSITIVE_INFINITY : end)),
  )
  return pending.some((operation, index) => {
    const { outcome, content, start } = operation
    if (start > firstEnd) return false
    const others = pending.toSpliced(index, 1)
    if (outcome === 'read') return content === register && hasOrder(others, register)
    if (outcome === 'conflict') return register !== undefined && register !== content && hasOrder(others, register)
    if (outcome === 'kept' && register !== undefined && register !== content) return false
    return hasOrder(others, register ?? content)
  })
}

const time = fc.integer({ min: 0, max: 12 })
const interval = fc
  .tuple(time, time)
  .map(([one, other]) => ({ start: Math.min(one, other), end: Math.max(one, other) }))
const content = fc.constantFrom('a', 'b')
const operation = fc.oneof(
  fc
    .record({ outcome: fc.constantFrom('kept' as const, 'conflict', 'unknown'), content, interval })
    .map(({ interval, ...create }) => ({ ...create, ...interval })),
  fc
    .record({ content: fc.option(content, { nil: undefined }), interval })
    .map(({ content, interval }) => ({ outcome: 'read' as const, content, ...interval })),
)

t.test('the verdict equals that of an exhaustive search', async (t) => {
  const verdicts = { explained: 0, unexplained: 0 }
  const agrees = fc.property(fc.array(operation, { maxLength: 6 }), (history) => {
    const isExplained = hasOrder(history)
    verdicts[isExplained ? 'explained' : 'unexplained']++
    return (linearizabilityViolation(history) === undefined) === isExplained
  })
  fc.assert(agrees, { ...fixedSeed, numRuns: 2_000 })
  for (const [verdict, count] of Object.entries(verdicts)) t.ok(count > 200, `${count} ${verdict}`)
})
