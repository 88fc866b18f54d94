import t from 'tap'
import { before, date, type Given, sendRaw, serveConditional, statuses } from '../support/conditional-service.ts'

t.test('a write with a stale precondition gets 412 in the shape of the document, and changes nothing', async (t) => {
  const { port, note } = await serveConditional(t)
  for (const [fields, expected] of [
    [[], 204],
    [['If-Match: "v1"'], 204],
    [['If-Match: "v0", "v1"'], 204],
    [['If-Match: *'], 204],
    [['If-Match: "v0"'], 412],
    [['If-Match: W/"v1"'], 412],
    [['If-Match:'], 412],
    [['If-None-Match: *'], 412],
    [['If-None-Match: "v1"'], 412],
    [['If-None-Match: W/"v1"'], 412],
    [['If-None-Match: "v0"'], 204],
    [['If-Match: v1'], 400],
    [['If-None-Match: v1'], 400],
    [[`If-Match: ${'"v1", '.repeat(300)}"v1"`], 400],
    // The document declares no Last-Modified, so the resource has no known date.
    [[`If-Unmodified-Since: ${before}`], 204],
    [[`If-Modified-Since: ${date}`], 204],
  ] as [string[], number][]) {
    note.writes = 0
    const [seen] = await sendRaw(t, port, [['PUT /note', fields]])
    t.equal(seen?.status, expected, fields.join('; '))
    t.equal(note.writes, expected === 204 ? 1 : 0)
    if (expected === 412)
      t.match(seen, { headers: { etag: '"v1"' }, body: /^\{"error":41200,"message":"the resource / })
  }
})

t.test('a write of a resource that does not exist gets through with If-None-Match: * only', async (t) => {
  const { port, note } = await serveConditional(t)
  note.etag = undefined
  t.same(
    await statuses(t, port, [
      ['PUT /note', ['If-None-Match: *']],
      ['PUT /note', ['If-Match: *']],
      ['PUT /note', ['If-Match: "v1"']],
    ]),
    [204, 412, 412],
  )
})

t.test('a write without a precondition gets 428 if the document lists it', async (t) => {
  const { port, note } = await serveConditional(t)
  const [seen, ...more] = await sendRaw(t, port, [
    ['PUT /strict'],
    ['PUT /strict', [`If-Unmodified-Since: ${date}`]],
    ['PUT /strict', ['If-Match: "v1"']],
    ['PUT /strict', ['If-None-Match: *']],
  ])
  t.match(seen, { status: 428, body: '{"error":42800,"message":"the request must have If-Match or If-None-Match"}' })
  t.same(
    more.map(({ status }) => status),
    [428, 204, 412],
  )
  t.equal(note.writes, 1)
})

t.test('a 2xx of a write that was not checked becomes a 500', async (t) => {
  const forged = { 'the result of preconditions.check': true }
  const earlier: unknown[] = []
  for (const checkedBy of [
    () => undefined,
    () => forged,
    ({ preconditions }: Given) => {
      preconditions.check(undefined)
      return undefined
    },
    ({ preconditions }: Given) => {
      const own = preconditions.check(undefined)
      return earlier.push(own) === 1 ? own : earlier[0]
    },
  ]) {
    const putNote = async (given: Given) => ({ status: 204, checked: checkedBy(given), body: undefined })
    const { port } = await serveConditional(t, { putNote })
    t.equal((await statuses(t, port, [['PUT /note'], ['PUT /note']])).at(-1), 500)
  }
})

t.test('an error of a write needs no check', async (t) => {
  const putNote = async () => ({ status: 404, body: { error: 40400, message: 'no note' } })
  const { port } = await serveConditional(t, { putNote })
  t.same(await statuses(t, port, [['PUT /note', ['If-Match: "v0"']]]), [404])
})
