import t from 'tap'
import { contentNegotiation, type Negotiation } from '../../src/request/accept.ts'

/** Returns the negotiation of an operation whose successful response has these media types. */
function negotiation(...mediaTypes: string[]) {
  const content = Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema: {} }]))
  const { check, choose } = contentNegotiation({ response: { 200: { content } } }) as Negotiation
  const reply = { getHeader: () => undefined, raw: { getHeader: () => undefined }, header: () => undefined }
  return (accept: string) => {
    const rejection = check({ headers: { accept } } as never, reply as never) as { kind: string } | undefined
    return rejection?.kind ?? choose(accept)
  }
}

t.test('an Accept with the charset of the response matches it', async (t) => {
  const choose = negotiation('application/json', 'text/csv', 'application/vnd.a+json;version=2', 'text/event-stream')
  const cases: [accept: string, chosen: string][] = [
    ['application/json;charset=utf-8', 'application/json'],
    ['application/json; charset=UTF-8', 'application/json'],
    ['application/json ; Charset="utf-8"', 'application/json'],
    ['application/json;charset=utf-8;q=0.1, text/csv;q=0.2', 'text/csv'],
    ['text/csv; charset=utf-8', 'text/csv'],
    ['TEXT/CSV;CHARSET=utf-8', 'text/csv'],
    ['text/*;charset=utf-8', 'text/csv'],
    ['text/event-stream;charset=utf-8', 'text/event-stream'],
    ['application/vnd.a+json;version=2;charset=utf-8', 'application/vnd.a+json;version=2'],
    ['application/json;q=0, */*;charset=utf-8', 'text/csv'],
    ['application/json;charset=utf-8;q=0, application/json', 'notAcceptable'],
    ['application/json;charset=iso-8859-1', 'notAcceptable'],
    ['application/json;charset=iso-8859-1, text/csv;q=0.1', 'text/csv'],
    ['application/json;version=1', 'notAcceptable'],
    ['application/json;version=1, */*;q=0.1', 'application/json'],
    ['text/csv;q=0', 'notAcceptable'],
  ]
  for (const [accept, chosen] of cases) t.equal(choose(accept), chosen, accept)
})

t.test('a declared charset is that of the response', async (t) => {
  const choose = negotiation('text/csv;charset=utf-8', 'text/plain; Charset="UTF-8"')
  t.equal(choose('text/csv'), 'text/csv;charset=utf-8')
  t.equal(choose('text/plain;charset=utf-8'), 'text/plain; Charset="UTF-8"')
  t.equal(choose('text/plain;charset=latin1'), 'notAcceptable')
})
