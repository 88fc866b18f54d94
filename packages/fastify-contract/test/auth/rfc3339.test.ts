import t from 'tap'
import { parseDateTime } from '../../src/auth/token-file.ts'

t.test('RFC 3339 date-times are parsed', async (t) => {
  const times: [string, number][] = [
    ['1970-01-01T00:00:00Z', 0],
    ['1970-01-01T00:00:00.250Z', 250],
    ['1970-01-01T01:00:01+01:00', 1_000],
    ['1969-12-31T23:59:59-00:30', 1_799_000],
    ['2024-02-29T12:00:00Z', 1_709_208_000_000],
  ]
  for (const [text, time] of times) t.equal(parseDateTime(text), time, text)
})

t.test('other text is parsed as undefined', async (t) => {
  const others = [
    '',
    '2026',
    '2026-01-31',
    '2026-01-31 12:00:00Z',
    '2026-01-31T12:00Z',
    '2026-01-31T12:00:00',
    '2026-01-31T12:00:00+0100',
    '2026-01-31T12:00:00Z ',
    '2026-01-31T12:00:00Z\n',
    'x2026-01-31T12:00:00Z',
    '2026-02-29T12:00:00Z',
    '2026-02-30T12:00:00+01:00',
    '2026-13-01T12:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-15T24:00:00Z',
    '2026-01-31T23:59:60Z',
    '2026-01-31T12:00:00+25:00',
    '+002026-01-31T12:00:00Z',
  ]
  for (const text of others) t.equal(parseDateTime(text), undefined, text)
})
