import t from 'tap'
import { serializeEvent } from '../../src/http/streams.ts'

const write = (data: unknown) => JSON.stringify(data)

t.test('an event has one line per field, and one data line per line of text', async (t) => {
  t.equal(serializeEvent({ data: { a: 'b\nc' } }, write), 'data: {"a":"b\\nc"}\n\n')
  t.equal(serializeEvent({ data: 'a\nb\r\nc\rd' }, write), 'data: a\ndata: b\ndata: c\ndata: d\n\n')
  t.equal(
    serializeEvent({ event: 'e', id: '', retry: 0, data: null }, write),
    'event: e\nid: \nretry: 0\ndata: null\n\n',
  )
})

t.test('a field with a line break or NUL, or an invalid retry, is rejected', async (t) => {
  for (const field of [{ event: 'a\nb' }, { id: 'a\r' }, { id: '\u0000' }, { retry: -1 }, { retry: 0.5 }]) {
    t.throws(() => serializeEvent({ data: 1, ...field }, write), /of an event must be/, JSON.stringify(field))
  }
})
