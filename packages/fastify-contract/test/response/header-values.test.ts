import t from 'tap'
import { cacheControl, linkHeader, retryAfter, vary } from '../../src/response/header-values.ts'

t.test('cacheControl writes directives', async (t) => {
  t.equal(cacheControl({}), '')
  t.equal(cacheControl({ store: 'none' }), 'no-store')
  t.equal(
    cacheControl({ store: 'public', immutable: true, maxAge: 60, sharedMaxAge: 0, staleIfError: 5 }),
    'public, immutable, max-age=60, s-maxage=0, stale-if-error=5',
  )
  t.equal(
    cacheControl({ store: 'private', noCache: true, mustRevalidate: true, noTransform: true, staleWhileRevalidate: 9 }),
    'private, no-cache, must-revalidate, no-transform, stale-while-revalidate=9',
  )
  for (const maxAge of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
    t.throws(() => cacheControl({ maxAge }), /max-age must be a whole number of seconds/)
})

t.test('vary and retryAfter write names, seconds and dates', async (t) => {
  t.equal(vary('Accept', 'Accept-Language'), 'Accept, Accept-Language')
  t.equal(vary('*'), '*')
  for (const name of ['', 'a b', 'a\r\nb', 'a,b', 'é']) t.throws(() => vary(name), TypeError)
  t.equal(retryAfter(5), '5')
  t.equal(retryAfter(new Date(0)), 'Thu, 01 Jan 1970 00:00:00 GMT')
  t.throws(() => retryAfter(0.5), /Retry-After must be a whole number of seconds/)
  t.throws(() => retryAfter(new Date(Number.NaN)), RangeError)
})

t.test('linkHeader encodes what a URI cannot contain, and nothing twice', async (t) => {
  t.equal(linkHeader({ href: '/pets?page=2&size=5#a', rel: 'next' }), '</pets?page=2&size=5#a>; rel="next"')
  t.equal(linkHeader({ href: 'https://[::1]/a;b=(c)~', rel: 'self' }), '<https://[::1]/a;b=(c)~>; rel="self"')
  t.equal(
    linkHeader({ href: '/a b/<é>/%41/100%/"\r\n\\{}\u{1f331}\u212a', rel: 'item', title: 'a "b" \\c' }),
    '</a%20b/%3C%C3%A9%3E/%41/100%25/%22%0D%0A%5C%7B%7D%F0%9F%8C%B1%E2%84%AA>; rel="item"; title="a \\"b\\" \\\\c"',
  )
  t.equal(linkHeader({ href: '/1', rel: 'prev' }, { href: '/3', rel: 'next' }), '</1>; rel="prev", </3>; rel="next"')
  t.throws(() => linkHeader({ href: '\ud800', rel: 'next' }), TypeError)
  t.throws(() => linkHeader({ href: '/', rel: 'a\r\nb' }), TypeError)
  t.throws(() => linkHeader({ href: '/', rel: 'a', title: 'é' }), TypeError)
  t.throws(() => linkHeader({ href: '/', rel: 'a', 'a b': 'c' }), TypeError)
})
