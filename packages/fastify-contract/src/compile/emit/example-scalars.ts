import { matchesPattern, maxLength, textOfPattern } from '../document/patterns.ts'
import { numbersOf } from '../document/schemas.ts'
import type { Node } from '../document/walk-document.ts'

/** An example string for each format that the service validates. The other formats need none. */
const formats: Record<string, string> = {
  date: '2026-01-01',
  time: '00:00:00Z',
  'date-time': '2026-01-01T00:00:00Z',
  'iso-time': '00:00:00Z',
  'iso-date-time': '2026-01-01T00:00:00Z',
  duration: 'P1D',
  uuid: '00000000-0000-4000-8000-000000000000',
  email: 'user@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  'uri-reference': 'https://example.com/',
  'uri-template': 'https://example.com/',
  url: 'https://example.com/',
  'relative-json-pointer': '0',
}

/** Returns a string that satisfies all of the schemas, or the empty string if none is found. */
export function exampleText(schemas: Node[]): string {
  const least = Math.max(...numbersOf(schemas, 'minLength'), 0)
  const most = Math.min(...numbersOf(schemas, 'maxLength'), Number.POSITIVE_INFINITY)
  const patterns = texts(schemas, 'pattern')
  if (least > maxLength) return ''
  const found = [
    ...texts(schemas, 'format').flatMap((format) =>
      Object.hasOwn(formats, format) ? [formats[format] as string] : [],
    ),
    ...patterns.flatMap((pattern) => [0, 1, least].flatMap((more) => textOfPattern(pattern, more) ?? [])),
    'x'.repeat(least),
  ].find((text) => {
    const length = [...text].length
    return length >= least && length <= most && patterns.every((pattern) => matchesPattern(pattern, text))
  })
  return found ?? ''
}

/** Returns a number that satisfies all of the schemas, or 0 if none is found. */
export function exampleNumber(schemas: Node[], isInteger: boolean): number {
  const steps = numbersOf(schemas, 'multipleOf')
  const step = Math.max(...steps, isInteger ? 1 : 0)
  const low = Math.max(...numbersOf(schemas, 'minimum'), ...numbersOf(schemas, 'exclusiveMinimum'))
  const high = Math.min(...numbersOf(schemas, 'maximum'), ...numbersOf(schemas, 'exclusiveMaximum'))
  const stepped = step === 0 ? [] : [Math.ceil(low / step) * step, Math.floor(low / step) * step + step]
  const below = step === 0 ? [] : [Math.floor(high / step) * step, Math.ceil(high / step) * step - step]
  const fits = (value: number) =>
    Number.isFinite(value) &&
    (!isInteger || Number.isInteger(value)) &&
    value >= low &&
    value <= high &&
    !numbersOf(schemas, 'exclusiveMinimum').includes(value) &&
    !numbersOf(schemas, 'exclusiveMaximum').includes(value) &&
    steps.every((each) => Number.isInteger(value / each))
  return [0, ...stepped, ...below, low, high, low + 1, high - 1, (low + high) / 2].find(fits) ?? 0
}

const texts = (schemas: Node[], keyword: string): string[] =>
  schemas.map((schema) => schema[keyword]).filter((value) => typeof value === 'string')
