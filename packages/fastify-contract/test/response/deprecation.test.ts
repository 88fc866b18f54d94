import type { Document } from 'fastify-contract-cli/testing'
import t from 'tap'
import { ContractError } from '../../src/contract/errors.ts'
import { rateLimit } from '../../src/limits/limits.ts'
import { crossOriginNames } from '../../src/routes/register-routes.ts'
import { compileRoutes, serveDocument } from '../support/serve-document.ts'

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

/** Returns the headers of the responses of one operation. */
async function headersOf(operation: object, handler: () => Promise<object>) {
  const app = await serveDocument(documentOf([operation]), { handlers: { get0: handler as never } })
  const { statusCode, headers } = await app.inject('/0')
  return { statusCode, headers }
}

const done = async () => ({ status: 204, body: undefined })

t.test('a deprecated operation announces its deprecation and its sunset', async (t) => {
  const { headers } = await headersOf(
    {
      deprecated: true,
      'x-deprecation': { date: '2026-01-31', link: 'https://example.com/why?a=b' },
      'x-sunset': { date: '2027-01-31T12:00:00+01:00', link: 'https://example.com/end' },
    },
    done,
  )
  t.match(headers, {
    deprecation: '@1769817600',
    sunset: 'Sun, 31 Jan 2027 11:00:00 GMT',
    link: '<https://example.com/why?a=b>; rel="deprecation", <https://example.com/end>; rel="sunset"',
  })
})

t.test('an announcement without a link has no Link header', async (t) => {
  const { headers } = await headersOf({ 'x-sunset': '2027-01-31' }, done)
  t.equal(headers.sunset, 'Sun, 31 Jan 2027 00:00:00 GMT')
  t.same([headers.link, headers.deprecation], [undefined, undefined])
})

t.test('an operation without a date announces nothing', async (t) => {
  for (const operation of [{}, { deprecated: true }]) {
    const { headers } = await headersOf(operation, done)
    t.same([headers.link, headers.deprecation, headers.sunset], [undefined, undefined, undefined])
  }
})

t.test('the Link header of a handler is added to that of the announcement', async (t) => {
  const announced = { 'x-deprecation': { date: '2026-01-31', link: 'https://example.com/why' } }
  const handler = async () => ({ status: 204, headers: { Link: '</1>; rel="next"' }, body: undefined })
  const { headers } = await headersOf(announced, handler)
  t.equal(headers.link, '<https://example.com/why>; rel="deprecation", </1>; rel="next"')
  t.equal((await headersOf({}, handler)).headers.link, '</1>; rel="next"')
})

t.test('error responses of a deprecated operation announce it, too', async (t) => {
  const { statusCode, headers } = await headersOf({ 'x-deprecation': '2026-01-31' }, async () => {
    throw new ContractError('unavailable', 'later')
  })
  t.same([statusCode, headers.deprecation], [503, '@1769817600'])
})

t.test('pages of other origins may read the announcement', async (t) => {
  const { responseHeaders } = crossOriginNames(compileRoutes(documentOf([{ 'x-sunset': '2027-01-31' }])), ['RateLimit'])
  t.ok(['RateLimit', 'Sunset'].every((name) => responseHeaders.includes(name)))
})

t.test('a response tells what is left of the rate limit', async (t) => {
  let time = 0
  const requestLimit = rateLimit(100, undefined, () => time)
  const document = documentOf([{ security: [{ key: [] }] }, {}], {
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
    responses: { Error: { description: 'Failed.' } },
  })
  const app = await serveDocument(document, {
    handlers: { get0: done, get1: done },
    verifiers: { key: (_request, verified) => verified(undefined, { name: 'a', scopes: [] }) },
    requestLimit,
  })
  const get = async (path = '/0') => {
    const { statusCode, headers } = await app.inject(path)
    return [statusCode, headers.ratelimit, headers['retry-after']]
  }
  t.equal((await app.inject('/0')).headers['ratelimit-policy'], '"default";q=100;w=60')
  for (let index = 0; index < 48; index++) await get()
  t.same(await get(), [204, '"default";r=50;t=30', undefined])
  for (let index = 0; index < 49; index++) await get()
  t.same(await get(), [204, '"default";r=0;t=1', undefined])
  t.same(await get(), [429, '"default";r=0;t=1', '1'])
  time += 30_000
  t.same(await get(), [204, '"default";r=49;t=30', undefined])
  t.same(await get('/1'), [204, undefined, undefined], 'without a client there is no limit')
})

t.test('a service without a rate limit sends no RateLimit header', async (t) => {
  t.equal(rateLimit(0).fields('a'), undefined)
})
