import * as fc from 'fast-check'

/** Strings of a format (JSON Schema Validation section 7.3), and some that only look like it. */
type Format = { values: fc.Arbitrary<string>; near: string[] }

const instant = fc
  // Years in which every time zone has four digits, since servers convert times to their own.
  .date({ min: new Date('1000-01-01T00:00:00Z'), max: new Date('9998-12-31T23:59:59Z'), noInvalidDate: true })
  .map((date) => date.toISOString())
const offset = fc.constantFrom('Z', '+00:00', '-23:59', '+05:30')
const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?$/)
// Some servers require the last label to be one of letters.
const host = fc
  .tuple(fc.array(label, { minLength: 1, maxLength: 3 }), fc.constantFrom('com', 'net', 'org'))
  .map(([labels, last]) => [...labels, last].join('.'))
let uris: fc.Arbitrary<string> | undefined

/** fast-check takes half a second to create this, so only a document with the format pays for it, once. */
function urls(): fc.Arbitrary<string> {
  uris ??= fc.webUrl({ withFragments: true, withQueryParameters: true })
  return uris
}

/** The known formats by name. */
export const formats: Record<string, Format> = {
  'date-time': {
    values: fc.tuple(instant, offset).map(([text, zone]) => text.replace('Z', zone)),
    near: ['2026-02-30T00:00:00Z', '2026-01-01T00:00:00', '2026-01-01 00:00', '2026-01-01', '2026-01-01T25:00:00Z'],
  },
  date: { values: instant.map((text) => text.slice(0, 10)), near: ['2026-02-29', '2026-1-1', '01.01.2026'] },
  time: {
    values: fc.tuple(instant, offset).map(([text, zone]) => text.slice(11).replace('Z', zone)),
    near: ['24:00:00Z', '12:00', '12:60:00Z'],
  },
  uuid: {
    values: fc.uuid({ version: [1, 3, 4, 5] }),
    near: ['00000000-0000-0000-0000-00000000000', '00000000000000000000000000000000'],
  },
  email: {
    values: fc
      .tuple(fc.stringMatching(/^[a-z0-9][a-z0-9_+-]{0,10}(\.[a-z0-9]{1,5})?$/), host)
      .map((parts) => parts.join('@')),
    near: ['@pets.example', 'a@', 'a@b@pets.example', 'pets.example'],
  },
  hostname: { values: host, near: ['-a.example', 'a..example', 'a_b.example'] },
  uri: {
    get values() {
      return urls()
    },
    near: ['/pets', 'pets.example', 'http://pets.example/a b', 'http://[::1'],
  },
  url: {
    get values() {
      return urls()
    },
    near: ['/pets', 'pets.example', 'http://pets.example/a b'],
  },
  'uri-reference': {
    get values() {
      return urls()
    },
    near: ['a b', 'http://pets.example/a b'],
  },
  duration: { values: fc.integer({ min: 1, max: 300 }).map((days) => `P${days}D`), near: ['P', '1D', 'P1', 'PT'] },
  ipv4: { values: fc.ipV4(), near: ['256.0.0.1', '1.2.3', '1.2.3.4.5'] },
  ipv6: { values: fc.ipV6(), near: ['::g', '1:2:3:4:5:6:7', '1::2::3'] },
  byte: {
    values: fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes).toString('base64')),
    near: ['a', 'YWI', 'YW*=', 'YWI=='],
  },
}
