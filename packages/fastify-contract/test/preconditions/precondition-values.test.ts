import t from 'tap'
import type { PreconditionRules } from '../../src/contract/routes.ts'
import { isEntityTag, parseTagList, stronglyEqual, weaklyEqual } from '../../src/preconditions/entity-tags.ts'
import { type CurrentState, failedPrecondition } from '../../src/preconditions/evaluate-preconditions.ts'
import { httpDate, parseHttpDate } from '../../src/preconditions/http-dates.ts'
import { preconditionCheck } from '../../src/preconditions/precondition-check.ts'
import { type PreconditionFields, readPreconditions } from '../../src/preconditions/precondition-fields.ts'

t.test('an entity tag is compared as the table of RFC 9110 section 8.8.3.2 says', async (t) => {
  for (const [one, other, strong, weak] of [
    ['W/"1"', 'W/"1"', false, true],
    ['W/"1"', 'W/"2"', false, false],
    ['W/"1"', '"1"', false, true],
    ['"1"', 'W/"1"', false, true],
    ['"1"', '"1"', true, true],
    ['"W/1"', 'W/"1"', false, false],
  ] as const)
    t.same([stronglyEqual(one, other), weaklyEqual(one, other)], [strong, weak], `${one} and ${other}`)
})

t.test('a list of entity tags has commas in tags, empty elements, tabs and obs-text', async (t) => {
  for (const [text, expected] of [
    ['*', '*'],
    [' * ', '*'],
    ['"a"', ['"a"']],
    ['"a","b"', ['"a"', '"b"']],
    ['"a" ,\t W/"b"', ['"a"', 'W/"b"']],
    ['"a,b", "c"', ['"a,b"', '"c"']],
    ['"*"', ['"*"']],
    ['"\\"', ['"\\"']],
    ['""', ['""']],
    ['"\xe9\x80\xff"', ['"\xe9\x80\xff"']],
    [', "a",, "b",', ['"a"', '"b"']],
    ['', []],
    [',', []],
  ] as const)
    t.same(parseTagList(text), expected, JSON.stringify(text))
})

t.test('an invalid list of entity tags has no tags', async (t) => {
  for (const text of [
    'a',
    '"a',
    'a"',
    'w/"a"',
    'W/ "a"',
    'W/a',
    '"a" "b"',
    '"a""b"',
    '"a b"',
    '"a\tb"',
    '"a\x7f"',
    '"a\u0100"',
    '*, "a"',
    '"a", *',
    '**',
    '"a"; q=1',
    "'a'",
  ])
    t.equal(parseTagList(text), undefined, JSON.stringify(text))
})

t.test('a list of entity tags has at most 256 elements', async (t) => {
  t.equal(parseTagList(Array(256).fill('"a"').join())?.length, 256)
  t.equal(parseTagList(Array(257).fill('"a"').join()), undefined)
  t.equal(parseTagList(','.repeat(256)), undefined)
  t.equal(parseTagList(`"a",${' '.repeat(100_000)}x`), undefined)
})

t.test('an entity tag is quoted', async (t) => {
  for (const tag of ['"a"', 'W/"a"', '""']) t.ok(isEntityTag(tag), tag)
  for (const tag of ['a', '', 'W/a', '"a", "b"', '"a"\n', 1, undefined]) t.notOk(isEntityTag(tag), String(tag))
})

const time = Date.UTC(1994, 10, 6, 8, 49, 37)

t.test('an HTTP-date is read in each of its three forms', async (t) => {
  const now = new Date(Date.UTC(2026, 0, 1))
  for (const [text, expected] of [
    ['Sun, 06 Nov 1994 08:49:37 GMT', time],
    ['Sunday, 06-Nov-94 08:49:37 GMT', time],
    ['Sun Nov  6 08:49:37 1994', time],
    ['Sunday, 06-Nov-76 08:49:37 GMT', Date.UTC(2076, 10, 6, 8, 49, 37)],
    ['Sunday, 06-Nov-77 08:49:37 GMT', Date.UTC(1977, 10, 6, 8, 49, 37)],
    ['Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2017, 0, 1)],
    ['Mon, 01 Jan 0001 00:00:00 GMT', Date.parse('0001-01-01T00:00:00Z')],
    ['Thu, 29 Feb 2024 00:00:00 GMT', Date.UTC(2024, 1, 29)],
  ] as const)
    t.equal(parseHttpDate(text, now), expected, text)
})

t.test('another text is no HTTP-date', async (t) => {
  for (const text of [
    '',
    '1994-11-06T08:49:37Z',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 06 nov 1994 08:49:37 GMT',
    'Sun, 31 Nov 1994 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Wed, 29 Feb 2023 00:00:00 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
  ])
    t.equal(parseHttpDate(text), undefined, text)
})

t.test('httpDate returns the preferred form, in whole seconds', async (t) => {
  t.equal(httpDate(new Date(time + 999)), 'Sun, 06 Nov 1994 08:49:37 GMT')
  t.equal(parseHttpDate(httpDate(new Date(time))), time)
  for (const date of [new Date(Number.NaN), new Date(Date.UTC(10_000, 0)), new Date(-1e15)])
    t.throws(() => httpDate(date), RangeError)
})

const later = time + 1_000
const earlier = time - 1_000

/** The fields of requests; the outcome of a read and of a write of a resource with the tag "a" that `time` changed. */
const table: [fields: PreconditionFields, read: number, write: number][] = [
  [{}, 200, 200],
  // Step 1: If-Match.
  [{ ifMatch: '*' }, 200, 200],
  [{ ifMatch: ['"a"'] }, 200, 200],
  [{ ifMatch: ['"b"', '"a"'] }, 200, 200],
  [{ ifMatch: ['"b"'] }, 412, 412],
  [{ ifMatch: [] }, 412, 412],
  [{ ifMatch: ['W/"a"'] }, 412, 412],
  // If-Unmodified-Since is ignored beside If-Match.
  [{ ifMatch: ['"a"'], ifUnmodifiedSince: earlier }, 200, 200],
  [{ ifMatch: ['"b"'], ifUnmodifiedSince: later }, 412, 412],
  // Step 2: If-Unmodified-Since.
  [{ ifUnmodifiedSince: earlier }, 412, 412],
  [{ ifUnmodifiedSince: time }, 200, 200],
  [{ ifUnmodifiedSince: later }, 200, 200],
  // Step 3: If-None-Match.
  [{ ifNoneMatch: '*' }, 304, 412],
  [{ ifNoneMatch: ['"a"'] }, 304, 412],
  [{ ifNoneMatch: ['W/"a"'] }, 304, 412],
  [{ ifNoneMatch: ['"b"', '"a"'] }, 304, 412],
  [{ ifNoneMatch: ['"b"'] }, 200, 200],
  [{ ifNoneMatch: [] }, 200, 200],
  // If-Modified-Since is ignored beside If-None-Match.
  [{ ifNoneMatch: ['"b"'], ifModifiedSince: later }, 200, 200],
  [{ ifNoneMatch: ['"a"'], ifModifiedSince: earlier }, 304, 412],
  // Step 4: If-Modified-Since, of reads only.
  [{ ifModifiedSince: earlier }, 200, 200],
  [{ ifModifiedSince: time }, 304, 200],
  [{ ifModifiedSince: later }, 304, 200],
  // The first two steps precede the others.
  [{ ifMatch: ['"a"'], ifNoneMatch: ['"a"'] }, 304, 412],
  [{ ifMatch: ['"b"'], ifNoneMatch: ['"a"'] }, 412, 412],
  [{ ifMatch: ['"a"'], ifModifiedSince: time }, 304, 200],
  [{ ifUnmodifiedSince: earlier, ifNoneMatch: ['"a"'] }, 412, 412],
  [{ ifUnmodifiedSince: later, ifNoneMatch: ['"a"'] }, 304, 412],
  [{ ifUnmodifiedSince: earlier, ifModifiedSince: time }, 412, 412],
  [{ ifUnmodifiedSince: time, ifModifiedSince: time }, 304, 200],
]

/** A failed precondition, or 200. */
const outcome = (of: 'read' | 'write', fields: PreconditionFields, current: CurrentState | undefined) =>
  failedPrecondition(of, fields, current) ?? 200

t.test('preconditions are evaluated in the order of RFC 9110 section 13.2.2', async (t) => {
  // Fractions of a second, which an HTTP-date does not have, do not count.
  for (const [fields, read, write] of table) {
    const current: CurrentState = { etag: '"a"', lastModified: time + 999 }
    t.same([outcome('read', fields, current), outcome('write', fields, current)], [read, write], JSON.stringify(fields))
  }
})

t.test('a resource without a validator matches * only, and its dates are ignored', async (t) => {
  for (const [fields, read, write] of [
    [{ ifMatch: '*' }, 200, 200],
    [{ ifMatch: ['"a"'] }, 412, 412],
    [{ ifNoneMatch: '*' }, 304, 412],
    [{ ifNoneMatch: ['"a"'] }, 200, 200],
    [{ ifModifiedSince: time, ifUnmodifiedSince: time }, 200, 200],
  ] as [PreconditionFields, number, number][])
    t.same([outcome('read', fields, {}), outcome('write', fields, {})], [read, write], JSON.stringify(fields))
})

t.test('a resource that does not exist matches nothing', async (t) => {
  for (const [fields, write] of [
    [{ ifMatch: '*' }, 412],
    [{ ifMatch: ['"a"'] }, 412],
    [{ ifNoneMatch: '*' }, 200],
    [{ ifNoneMatch: ['"a"'] }, 200],
    [{ ifUnmodifiedSince: time }, 200],
  ] as [PreconditionFields, number][])
    t.equal(outcome('write', fields, undefined), write, JSON.stringify(fields))
})

t.test('a weak tag of a resource fails If-Match, and satisfies If-None-Match', async (t) => {
  const current: CurrentState = { etag: 'W/"a"' }
  t.equal(outcome('write', { ifMatch: ['W/"a"'] }, current), 412)
  t.equal(outcome('read', { ifNoneMatch: ['"a"'] }, current), 304)
})

const both: PreconditionRules = { of: 'read', validators: ['etag', 'lastModified'], statuses: [304, 412] }
const date = httpDate(new Date(time))

/** A request with headers, in the form of Node.js. */
function message(...pairs: [name: string, value: string][]) {
  const headers: Record<string, string> = {}
  for (const [name, value] of pairs) {
    const key = name.toLowerCase()
    if (headers[key] === undefined) headers[key] = value
    else if (!key.endsWith('since')) headers[key] += `, ${value}`
  }
  return { headers, rawHeaders: pairs.flat() }
}

const given = (fields: PreconditionFields) => JSON.parse(JSON.stringify(fields))

t.test('an operation reads the preconditions whose statuses it lists', async (t) => {
  const all = message(
    ['If-Match', '"a"'],
    ['If-None-Match', '"b"'],
    ['If-Modified-Since', date],
    ['If-Unmodified-Since', date],
  )
  const tags = { ifMatch: ['"a"'], ifNoneMatch: ['"b"'] }
  t.same(given(readPreconditions(all, both)), { ...tags, ifModifiedSince: time, ifUnmodifiedSince: time })
  t.same(given(readPreconditions(all, { ...both, statuses: [304] })), { ifNoneMatch: ['"b"'], ifModifiedSince: time })
  t.same(given(readPreconditions(all, { ...both, statuses: [412] })), { ifMatch: ['"a"'], ifUnmodifiedSince: time })
  t.same(given(readPreconditions(all, { of: 'write', validators: ['etag'], statuses: [412] })), tags)
})

t.test('a date that is invalid or occurs twice is ignored', async (t) => {
  const twice = message(['If-Modified-Since', date], ['if-modified-since', date])
  t.same(given(readPreconditions(twice, both)), {})
  t.same(given(readPreconditions(message(['If-Unmodified-Since', 'yesterday']), both)), {})
})

t.test('tags of several header fields form one list', async (t) => {
  const several = message(['If-None-Match', '"a"'], ['if-none-match', 'W/"b"'])
  t.same(given(readPreconditions(several, both)), { ifNoneMatch: ['"a"', 'W/"b"'] })
})

t.test('an invalid If-Match is an error, and an invalid If-None-Match only for a write', async (t) => {
  const invalid = { statusCode: 400, message: /^If-(None-)?Match must be \* or a list of at most 256 entity tags/ }
  t.throws(() => readPreconditions(message(['If-Match', 'a']), both), invalid)
  t.throws(() => readPreconditions(message(['If-None-Match', 'a']), { ...both, of: 'write', statuses: [412] }), invalid)
  // The date beside it is still ignored, as beside a valid one.
  const stale = message(['If-None-Match', 'a'], ['If-Modified-Since', date])
  t.same(failedPrecondition('read', readPreconditions(stale, both), { lastModified: time }), undefined)
})

t.test('the check of a write rejects validators that no request could match', async (t) => {
  const { check } = preconditionCheck({ ...both, of: 'write' }, {})
  t.throws(() => check({ etag: 'a' as '"a"', lastModified: new Date() }), /etag must be an entity tag .*; got a$/)
  t.throws(() => check({ etag: '"a"', lastModified: new Date(Number.NaN) }), /lastModified must be a valid date/)
})
