import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { type ByteStream, endSource, streamParts } from '../../src/http/streams.ts'

const write = (item: string) => item

t.test('a silent source gets keep-alive parts, and items keep their order', async (t) => {
  async function* source() {
    yield 'a'
    await sleep(50)
    yield 'b'
  }
  const { signal } = new AbortController()
  const seen: string[] = []
  for await (const part of streamParts(source(), {
    write,
    end: signal,
    keepAlive: { opening: 10, time: 10, text: '-' },
  })) {
    seen.push(String(part))
  }
  t.match(seen.join(''), /^a-+b$/)
})

t.test('an abort ends a silent source, whose later errors are ignored', async (t) => {
  let isEnded = false
  const source = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise<IteratorResult<string>>((_, reject) => setTimeout(reject, 20, new Error('late'))),
      return: async () => {
        isEnded = true
        throw new Error('at the end')
      },
    }),
  }
  const controller = new AbortController()
  const parts = streamParts(source, { write, end: controller.signal })
  const next = parts.next()
  controller.abort()
  t.same(await next, { value: undefined, done: true })
  t.equal(isEnded, true)
  await sleep(30)
})

t.test('an item is not lost during a keep-alive, and an invalid item ends the source', async (t) => {
  async function* source() {
    yield 'a'
    await sleep(15)
    yield 'b'
    yield 'no'
  }
  const { signal } = new AbortController()
  const checked = (item: string) => {
    if (item === 'no') throw new Error('must not leave')
    return item
  }
  const parts = streamParts(source(), {
    write: checked,
    end: signal,
    keepAlive: { opening: 10, time: 10, text: '-' },
  })
  const seen: string[] = []
  await t.rejects(
    (async () => {
      for await (const part of parts) {
        seen.push(String(part))
        // The source continues while a slow client reads a part.
        await sleep(20)
      }
    })(),
    { message: 'must not leave' },
  )
  t.match(seen.join(''), /^a-*b-*$/)
})

t.test('a source without a return method can be ended', async (t) => {
  const source = { [Symbol.asyncIterator]: () => ({ next: async () => ({ value: 'a', done: false }) }) }
  const parts = streamParts(source, { write, end: new AbortController().signal })
  t.equal((await parts.next()).value, 'a')
  t.match(await parts.return(undefined), { done: true })
})

t.test('an aborted stream does not read its source', async (t) => {
  let isAsked = false
  async function* source() {
    isAsked = true
    yield 'a'
  }
  const parts = streamParts(source(), { write, end: AbortSignal.abort() })
  t.match(await parts.next(), { done: true })
  t.equal(isAsked, false)
})

t.test('the first keep-alive part is sent after the opening delay, the next after the full interval', async (t) => {
  const source = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<IteratorResult<string>>(() => {}) }) }
  const controller = new AbortController()
  const keepAlive = { opening: 10, time: 600_000, text: '-' }
  const parts = streamParts(source, { write, end: controller.signal, keepAlive })
  t.equal((await parts.next()).value, '-')
  const next = parts.next()
  t.equal(await Promise.race([next, sleep(50, 'silent')]), 'silent')
  controller.abort()
  t.match(await next, { done: true })
})

t.test('errors of the cleanup of a source are ignored, thrown or rejected', async (t) => {
  const iteratorOf = (finish: () => unknown) => () => ({ next: async () => ({ done: true }), return: finish })
  const fail = () => {
    throw new Error('what a cleanup throws')
  }
  const sources = [
    { [Symbol.asyncIterator]: fail },
    { [Symbol.asyncIterator]: iteratorOf(fail) },
    { [Symbol.asyncIterator]: iteratorOf(async () => fail()) },
    { [Symbol.asyncIterator]: iteratorOf(() => undefined) },
    { [Symbol.asyncIterator]: iteratorOf(() => undefined), destroy: fail },
  ]
  for (const source of sources) t.doesNotThrow(() => endSource(source as unknown as ByteStream))
})
