import t from 'tap'
import { usageError } from '../../../../test/support/exact-pattern.ts'
import { parseDuration, parseExpiry } from '../../src/cli/token.ts'

const now = Date.parse('2026-01-31T12:00:00Z')

t.test('durations are parsed', async (t) => {
  const durations: [string, number][] = [
    ['0s', 0],
    ['10s', 10_000],
    ['30m', 1_800_000],
    ['24h', 86_400_000],
    ['90d', 7_776_000_000],
  ]
  for (const [text, milliseconds] of durations) t.equal(parseDuration(text, '--overlap'), milliseconds)
  for (const text of ['', '24', 'h', '-1h', '1.5h', '1w', '24H', ' 24h', '24h\n', '10000d']) {
    const message = `--overlap is ${JSON.stringify(text)}; expected a duration such as 24h or 7d`
    t.throws(() => parseDuration(text, '--overlap'), usageError(message))
  }
})

t.test('an expiry is a duration, a date or a date-time in the future', async (t) => {
  const times: [string, string][] = [
    ['90d', '2026-05-01T12:00:00Z'],
    ['2026-02-01', '2026-02-01T00:00:00Z'],
    ['2026-01-31T12:00:01Z', '2026-01-31T12:00:01Z'],
    ['2026-01-31T12:00:00-01:00', '2026-01-31T13:00:00Z'],
  ]
  for (const [text, time] of times) t.equal(parseExpiry(text, now), Date.parse(time))
  for (const text of ['', 'never', '0s', '2026-01-31', '2026-01-31T12:00:00Z', '2027-02-29', '2027', '90']) {
    const message = `--expires is "${text}"; expected a future time, such as 90d, 2030-01-31 or 2030-01-31T12:00:00Z`
    t.throws(() => parseExpiry(text, now), usageError(message))
  }
})
