import t from 'tap'
import { ContractError } from '../../src/http/errors.ts'
import { newContext } from '../../src/http/request-context.ts'
import { errorWriter } from '../../src/serve/error-writer.ts'

const error = new ContractError('invalid', 'what is wrong')

/** Writes an error body of a media type. Returns the response, and whether the writer reported a failure. */
function written(contentType: string, body: unknown) {
  const reports: unknown[] = []
  const write = errorWriter(
    () => ({ contentType, body }),
    { invalid: 40003 },
    (thrown) => reports.push(thrown),
  )
  const { number, ...reply } = write(error, newContext('GET'))
  return { ...reply, isReported: reports.length === 1 && number === 40003 }
}

t.test('an error body is written as JSON or as text', async (t) => {
  const json = (text: string) => ({ contentType: 'application/json; charset=utf-8', text, isReported: false })
  t.same(written('application/json', { a: 1 }), json('{"a":1}'))
  t.same(written('application/json', { a: 9007199254740993n }), json('{"a":9007199254740993}'))
  t.same(written('application/json', null), json('null'))
  const text = (given: string) => ({ contentType: 'text/plain; charset=utf-8', text: given, isReported: false })
  for (const [body, sent] of [
    ['a', 'a'],
    ['', ''],
    [1, '1'],
    [1n, '1'],
    [true, 'true'],
  ] as const) {
    t.same(written('text/plain', body), text(sent))
  }
})

t.test('an error that the document does not number has its status times 100', async (t) => {
  const write = errorWriter(
    ({ error }) => ({ contentType: 'application/json', body: error }),
    {},
    () => {},
  )
  t.match(write(error, newContext('GET')), { number: 40000, text: '40000' })
})

t.test('an invalid error body is reported, and the error is sent as plain text', async (t) => {
  const plain = { contentType: 'text/plain; charset=utf-8', text: 'what is wrong', isReported: true }
  for (const body of [undefined, Symbol('a'), () => 1]) {
    for (const mediaType of ['application/json', 'text/plain']) {
      t.same(written(mediaType, body), plain, `${String(body)} as ${mediaType}`)
    }
  }
  for (const body of [null, {}, new Uint8Array(1)]) t.same(written('text/plain', body), plain)
})
