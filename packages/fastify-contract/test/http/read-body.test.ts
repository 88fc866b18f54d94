import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { bodyMemory, readBody } from '../../src/http/read-body.ts'

/** Starts to read a body. Returns its stream and a list that gets the outcome: the text or the name of an error. */
function reading({ limit = 4, announced = 0, has = '', complete = false, memory = bodyMemory(1e6, () => {}) }) {
  const request = new PassThrough()
  request.write(has)
  if (complete) request.end()
  const outcomes: unknown[] = []
  const message = Object.assign(request, { complete }) as unknown as IncomingMessage
  readBody(message, { announced, limit, memory }, (error, bytes) => outcomes.push(error?.kind ?? String(bytes)))
  return { request, outcomes }
}

const later = () => new Promise((resolve) => setImmediate(resolve))

t.test('a body that has already arrived is read at once', async (t) => {
  t.same(reading({ has: 'abcd', complete: true }).outcomes, ['abcd'])
  t.same(reading({ complete: true }).outcomes, [''])
  t.same(reading({ has: 'abcde', complete: true }).outcomes, ['bodyTooLarge'])
})

t.test('a later body is read when it is complete', async (t) => {
  const { request, outcomes } = reading({ has: 'ab' })
  await later()
  t.same(outcomes, [])
  request.end('cd')
  await later()
  t.same(outcomes, ['abcd'])
})

t.test('a body over the limit is rejected once, by its announced or its received length', async (t) => {
  t.same(reading({ announced: 5 }).outcomes, ['bodyTooLarge'])
  const { request, outcomes } = reading({ has: 'abcde' })
  await later()
  t.same(outcomes, ['bodyTooLarge'])
  request.end('fghij')
  await later()
  t.same(outcomes, ['bodyTooLarge'])
})

t.test('the error of an oversized body names the limit', async (t) => {
  const request = Object.assign(new PassThrough(), { complete: false }) as unknown as IncomingMessage
  const memory = bodyMemory(1e6, () => {})
  readBody(request, { announced: 5, limit: 4, memory }, (error) =>
    t.equal(error?.message, 'the body has more than 4 bytes'),
  )
})

t.test('an aborted body gives an error', async (t) => {
  const { request, outcomes } = reading({ has: 'ab' })
  request.destroy(new Error('aborted'))
  await later()
  t.same(outcomes, ['malformedRequest'])
})

t.test('the parts of a body are joined in order', async (t) => {
  const text = Array.from({ length: 10_000 }, (_, n) => n).join('')
  const { request, outcomes } = reading({ limit: 100_000 })
  for (const character of text) request.write(character)
  request.end()
  await once(request, 'close')
  t.ok(outcomes[0] === text)
})

t.test('bodies that arrive in parts share a memory limit, and each releases its memory however it ends', async (t) => {
  let shed = 0
  const memory = bodyMemory(9_000, () => shed++)
  const begin = () => reading({ limit: 8_000, has: 'a'.repeat(5_000), memory })
  for (const end of [
    ({ request }: ReturnType<typeof begin>) => request.end(),
    ({ request }: ReturnType<typeof begin>) => request.destroy(),
    ({ request }: ReturnType<typeof begin>) => request.end('b'.repeat(3_001)),
  ]) {
    const first = begin()
    await later()
    const second = begin()
    await later()
    t.same([first.outcomes, second.outcomes], [[], ['unavailable']])
    end(first)
    await later()
    t.equal(first.outcomes.length, 1)
  }
  t.equal(shed, 3)
  t.equal(memory.reserve(9_000, 0), undefined, 'the memory of the body is released')
})
