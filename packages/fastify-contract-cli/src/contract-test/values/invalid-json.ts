import { escaped, type Json, jsonText } from './json-notations.ts'

/** Returns a text of the value that is not I-JSON (RFC 7493). `number` is random and chooses where the text breaks. */
type Break = (value: Json, number: number) => string | Buffer

const inside = (value: Json, member: string): string => {
  const text = jsonText(value)
  if (text === '{}') return `{${member}}`
  return text.startsWith('{') ? `${text.slice(0, -1)},${member}}` : `{"body":${text},${member}}`
}

const firstName = (value: Json): string =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (Object.keys(value)[0] ?? '') : 'body'

const twice = (value: Json, write: (name: string) => string): string => {
  const name = firstName(value)
  const member = `${write(name)}:1`
  return jsonText(value) === '{}' ? `{"":0,${member}}` : inside(value, member)
}

const cut = (value: Json, number: number): string => {
  const text = jsonText([value])
  return text.slice(0, 1 + (number % (text.length - 1)))
}

/** Texts that are not JSON (RFC 8259), so that JSON.parse rejects them, too. */
export const notJson: Record<string, Break> = {
  truncated: cut,
  'a trailing comma': (value) => inside(value, '"extra":1,'),
  'a comma before the end of an array': (value) => `[${jsonText(value)},]`,
  'something after the value': (value) => `${jsonText(value)} 1`,
  'a name without quotes': (value) => inside(value, 'name:1'),
  'a name in single quotes': (value) => inside(value, "'name':1"),
  'a comment': (value) => `/* a comment */ ${jsonText(value)}`,
  'a number that is none': (value) => inside(value, '"extra":NaN'),
  'a number with a leading zero': (value) => inside(value, '"extra":01'),
  'a number with a plus': (value) => inside(value, '"extra":+1'),
  'a raw control character': (value, number) => inside(value, `"extra":"${String.fromCharCode(number % 32)}"`),
  'an unknown escape': (value) => inside(value, '"extra":"\\x41"'),
}

/** Texts that JSON.parse accepts although I-JSON or the contract forbids them. */
export const notIJson: Record<string, Break> = {
  'a name twice': (value) => twice(value, (name) => jsonText(name)),
  'a name twice, once escaped': (value) => twice(value, escaped),
  'a name twice, deeper': (value) => inside(value, '"extra":[{"a":{"b":1,"b":1}}]'),
  'a lone high surrogate': (value, number) => inside(value, `"extra":"\\u${(0xd800 + (number % 0x400)).toString(16)}"`),
  'a lone low surrogate': (value, number) => inside(value, `"extra":"\\u${(0xdc00 + (number % 0x400)).toString(16)}"`),
  'a lone surrogate in a name': (value) => inside(value, '"\\ud800":1'),
  'an escaped NUL': (value) => inside(value, '"extra":"\\u0000"'),
  'an escaped NUL in a name': (value) => inside(value, '"\\u0000":1'),
  'too many levels': (value) => `${'['.repeat(128)}${jsonText([value])}${']'.repeat(128)}`,
  'bytes that are not UTF-8': (value, number) =>
    Buffer.concat([Buffer.from(inside(value, '"extra":"')), Buffer.from([0x80 + (number % 0x80)]), Buffer.from('"}')]),
}
