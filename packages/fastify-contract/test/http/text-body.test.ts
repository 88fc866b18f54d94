import t from 'tap'
import { formParser, type ParseBody, parseText } from '../../src/http/read-body.ts'

const parse = (parser: ParseBody, bytes: Uint8Array) => {
  try {
    return parser(Buffer.from(bytes))
  } catch (error) {
    return (error as Error).message
  }
}
const utf8 = (text: string) => Buffer.from(text)

t.test('text is UTF-8 without U+0000, and its byte order mark is removed', async (t) => {
  t.same(parse(parseText, utf8('\ufeffa\u00e4')), { value: 'a\u00e4', length: 2 })
  t.same(parse(parseText, Buffer.from([0x61, 0xff])), 'body is not UTF-8')
  t.same(parse(parseText, utf8('a\0')), 'body contains the character U+0000')
})

t.test('a form is percent-encoded UTF-8 with a limited number of fields', async (t) => {
  const form = formParser(2)
  t.same(parse(form, utf8('a=b%20c&a=+')), { texts: { a: ['b%20c', '+'] }, length: 11 })
  t.same(parse(form, utf8('a=%C3%A4&%C3%A4=')), { texts: { a: ['%C3%A4'], '\u00e4': [''] }, length: 16 })
  for (const text of ['a=%ff', 'a=%', '%C3=%A4']) t.same(parse(form, utf8(text)), 'body is not percent-encoded UTF-8')
  t.same(parse(form, utf8('a=%00')), 'body contains the character U+0000')
  t.same(parse(form, utf8(' a= b \r\n&\u00a0=\ufeff')), {
    texts: { ' a': [' b \r\n'], '\u00a0': ['\ufeff'] },
    length: 12,
  })
  t.same(parse(form, utf8('')), { texts: {}, length: 0 })
  t.same(parse(form, utf8('&&')), 'the form has more than 2 fields')
})
