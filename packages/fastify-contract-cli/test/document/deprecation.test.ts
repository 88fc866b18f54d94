import t from 'tap'
import { withServiceHeaders } from '../../src/docs/service-headers.ts'
import type { Document } from '../../src/document/openapi-document.ts'
import { checkDocument } from '../../src/rules/check-document.ts'

const link = { Link: { schema: { type: 'string' } } }
const responses = { 204: { description: 'Done.', headers: link }, default: { $ref: '#/components/responses/Error' } }

/** Returns a document with one operation for each set of extensions. */
const documentOf = (operations: object[], more: object = {}): Document => ({
  openapi: '3.1.0',
  info: { title: 'Test', version: '1.0.0' },
  paths: Object.fromEntries(
    operations.map((operation, index) => [
      `/${index}`,
      { get: { operationId: `get${index}`, responses, ...operation } },
    ]),
  ),
  components: { responses: { Error: { description: 'Failed.' } }, ...more },
})

t.test('an announcement that is not a date, or has no valid link, is refused with its place', async (t) => {
  const wrong = [
    'soon',
    '2027-02-30',
    '2027-01-31T12:00',
    20270131,
    {},
    null,
    { date: '2027-01-31', link: '/end' },
    { date: '2027-01-31', link: 'https://example.com/>; rel="next' },
  ]
  for (const value of wrong)
    t.match(
      checkDocument(documentOf([{ 'x-sunset': value }])).rejected,
      [/^#\/paths\/~10\/get\/x-sunset: must be a date such as 2027-01-31/],
      JSON.stringify(value),
    )
  const reversed = documentOf([{ 'x-deprecation': '2027-01-31', 'x-sunset': '2026-01-31' }])
  t.match(checkDocument(reversed).rejected, [/x-sunset: is before x-deprecation/])
})

t.test('deprecated operations without a date get one warning', async (t) => {
  const dated = { deprecated: true, 'x-deprecation': '2026-01-31' }
  const warnings = (...operations: object[]) =>
    checkDocument(documentOf(operations)).warnings.filter((line) => line.includes('is deprecated'))
  t.same(warnings({}, dated), [])
  t.match(warnings({}, { deprecated: true }), [/^#\/paths\/~11\/get: is deprecated without a date, so/])
  const all = warnings({ deprecated: true }, { deprecated: true }, { deprecated: true })
  t.match(all, [/is deprecated without a date, as 2 other operations are, so/])
})

t.test('the docs page shows the headers that the service adds', async (t) => {
  const document = documentOf(
    [
      { security: [{ key: [] }], description: 'Gets it.' },
      { 'x-deprecation': '2026-01-31', 'x-sunset': { date: '2027-01-31', link: 'https://example.com/end' } },
      {},
      { security: [{ key: [] }] },
    ],
    { headers: { RateLimit: { description: 'Own.' } }, responses: { Error: { description: 'Failed.' } } },
  )
  const before = structuredClone(document)
  const shown = withServiceHeaders(document) as unknown as {
    paths: Record<string, { get: { description?: string; responses: Record<string, { headers?: object }> } }>
    components: { headers: Record<string, { description: string }>; responses: object }
  }
  t.same(document, before, 'the document is unchanged')
  const namesOf = (path: string, status: string) => Object.keys(shown.paths[path]?.get.responses[status]?.headers ?? {})
  t.same(namesOf('/0', '204'), ['RateLimit', 'RateLimit-Policy', 'Link'])
  t.same(namesOf('/0', 'default'), ['RateLimit', 'RateLimit-Policy'])
  t.same(namesOf('/1', 'default'), ['Deprecation', 'Sunset', 'Link'])
  t.same(shown.paths['/2']?.get, (before.paths as Record<string, { get: object }>)['/2']?.get)
  t.equal(shown.paths['/0']?.get.description, 'Gets it.')
  t.match(
    shown.paths['/1']?.get.description,
    '**Deprecated since 2026-01-31.** **May stop working after 2027-01-31.** [Details](https://example.com/end)',
  )
  t.equal(shown.components.headers.RateLimit?.description, 'Own.', 'a header of the document stays')
  t.same(shown.components.responses, { Error: { description: 'Failed.' } })
  const plain = documentOf([{}])
  t.same(withServiceHeaders(plain), plain)
})

t.test('the documentation shows Accept-Query for each operation of a path with a QUERY', async (t) => {
  const requestBody = { required: true, content: { 'application/json': {}, 'text/plain': {} } }
  const document = {
    ...documentOf([{}, {}]),
    openapi: '3.2.0',
    paths: {
      '/0': { get: { operationId: 'get', responses }, query: { operationId: 'query', requestBody, responses } },
      '/1': { get: { operationId: 'other', responses } },
    },
  }
  const shown = withServiceHeaders(document as never) as unknown as {
    paths: Record<string, Record<string, { responses: Record<string, { headers?: Record<string, object> }> }>>
  }
  const headersOf = (path: string, method: string) => shown.paths[path]?.[method]?.responses['204']?.headers
  for (const method of ['get', 'query'])
    t.match(headersOf('/0', method), { 'Accept-Query': { example: '"application/json", "text/plain"' } }, method)
  t.notOk('Accept-Query' in (headersOf('/1', 'get') ?? {}))
})
