import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { readBody } from '../../src/http/read-body.ts'

/** Begins to read a body; gives its stream, and what it comes to: a text, the number of an error, nothing so far. */
function reading({ limit = 4, announced = 0, has = '', complete = false }) {
  const request = new PassThrough()
  request.write(has)
  if (complete) request.end()
  const outcomes: unknown[] = []
  const message = Object.assign(request, { complete }) as unknown as IncomingMessage
  readBody(message, announced, limit, (error, bytes) => outcomes.push(error?.error ?? String(bytes)))
  return { request, outcomes }
}

const later = () => new Promise((resolve) => setImmediate(resolve))

t.test('a body that is there already is read at once', async (t) => {
  t.same(reading({ has: 'abcd', complete: true }).outcomes, ['abcd'])
  t.same(reading({ complete: true }).outcomes, [''])
  t.same(reading({ has: 'abcde', complete: true }).outcomes, [41300])
})

t.test('a body that comes later is read when it is whole', async (t) => {
  const { request, outcomes } = reading({ has: 'ab' })
  await later()
  t.same(outcomes, [])
  request.end('cd')
  await later()
  t.same(outcomes, ['abcd'])
})

t.test('a body that is too large is told so once, by what is announced or by what has come', async (t) => {
  t.same(reading({ announced: 5 }).outcomes, [41300])
  const { request, outcomes } = reading({ has: 'abcde' })
  await later()
  t.same(outcomes, [41300])
  request.end('fghij')
  await later()
  t.same(outcomes, [41300])
})

t.test('a body that breaks off has no bytes', async (t) => {
  const { request, outcomes } = reading({ has: 'ab' })
  request.destroy(new Error('aborted'))
  await later()
  t.same(outcomes, [40000])
})
