import t from 'tap'
import { openMemory } from '../src/store/memory.ts'
import { createTestApp } from './support/test-app.ts'

t.test('a created plant is returned without its id', async (t) => {
  const { create } = await createTestApp(t)
  t.match(await create({ id: 1, name: 'a', tag: 'b' }), { status: 200, body: { name: 'a', tag: 'b' } })
  t.same((await create({ id: 2, name: 'a' })).body, { name: 'a' })
  t.same((await create({ id: 3, name: '', tag: '', more: [1] })).body, { name: '', tag: '' })
  const name = 'long'.repeat(5_000)
  t.same((await create({ id: 4, name })).body, { name })
})

t.test('a retry gets the same response, another plant with the same id a conflict', async (t) => {
  const { create } = await createTestApp(t)
  const id = '-9223372036854775808'
  for (const _ of [1, 2]) t.match(await create(`{"id":${id},"name":"a"}`), { status: 200, body: { name: 'a' } })
  for (const other of ['"name":"b"', '"name":"a","tag":""']) {
    const { status, body } = await create(`{"id":${id},${other}}`)
    t.equal(status, 409)
    t.same(body, { error: 40900, message: `id ${id} belongs to another plant` })
  }
  t.match(await create(`{"id":${id},"name":"a","extra":1}`), { status: 200 })
})

t.test('an unavailable store gets 503, a failing store 500', async (t) => {
  const failing = (error: Error) => ({ ...openMemory(), create: () => Promise.reject(error) })
  const busy = await createTestApp(t, { store: failing(Object.assign(new Error('full'), { retryAfter: 2 })) })
  const refused = await busy.create({ id: 1, name: 'a' })
  t.match(refused, { status: 503, headers: { 'retry-after': '2' }, body: { error: 50300 } })
  t.match(busy.log.join(''), /request rejected.*full|full.*request rejected/)
  const broken = await createTestApp(t, { store: failing(new Error('disk on fire')) })
  const failed = await broken.create({ id: 1, name: 'secret name' })
  t.same(failed.body, { error: 50000, message: 'internal error; its X-Request-Id is in the log' })
  t.match(broken.log.join(''), /disk on fire/)
  t.notMatch(broken.log.join(''), /secret name/)
})
