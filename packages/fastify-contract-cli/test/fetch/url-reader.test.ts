import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { type FetchOptions, UrlReader } from '../../src/fetch/url-reader.ts'
import { addresses, certificate, fakeNetwork, redirect, startPages } from '../support/url-server.ts'

const readerOf = (t: Test, url: string, options?: FetchOptions) => {
  const reader = new UrlReader(url, options)
  t.teardown(() => reader.close())
  return reader
}

/** Returns the text of a document, or the message why it is not fetched. */
async function fetched(t: Test, url: string, options?: FetchOptions): Promise<string> {
  try {
    return Buffer.from((await readerOf(t, url, options).readDocument(url)).bytes).toString()
  } catch (error) {
    return (error as Error).message
  }
}

t.test('only HTTPS is used, unless the host is this machine', async (t) => {
  const { at, port, asked } = await startPages(t, { '/a': 'content' })
  t.equal(await fetched(t, `${at}/a`), 'content')
  t.equal(await fetched(t, `http://localhost:${port}/a#fragment`), 'content')
  asked.length = 0
  for (const host of ['example.com', '10.0.0.1', '127.0.0.1.example.com', 'localhost.example.com', '[::ffff:7f00:1]'])
    t.match(await fetched(t, `http://${host}:${port}/a`), /is not a URL of HTTPS; only this machine may use HTTP; use /)
  t.match(await fetched(t, 'https://'), /^the URL of the document is invalid; correct it$/)
  // A name server may give this machine another address.
  const elsewhere = fakeNetwork({ localhost: [[addresses.public]] })
  t.match(await fetched(t, `http://localhost:${port}/a`, elsewhere), /leads to 127\.0\.0\.1, a public address; only /)
  t.same(asked, [])
})

t.test('HTTPS verifies the certificate', async (t) => {
  const { at, asked } = await startPages(t, { '/a': 'content' }, { isSecure: true })
  t.match(await fetched(t, `${at}/a`), /cannot be fetched \(self-signed certificate\); check the URL$/)
  t.same(asked, [])
  t.equal(await fetched(t, `${at}/a`, { ca: certificate }), 'content')
})

t.test('credentials in a URL are refused, and never shown', async (t) => {
  const { port } = await startPages(t, { '/moved': redirect('http://user:secret@127.0.0.1:1/') })
  for (const url of [`http://user:secret@127.0.0.1:${port}/a`, `http://127.0.0.1:${port}/moved`]) {
    const message = await fetched(t, url)
    t.match(message, /has credentials in its URL; download the document, and name the file$/)
    t.notMatch(message, /user|secret/)
  }
})

t.test('redirects are followed, within limits', async (t) => {
  const secure = await startPages(t, { '/a': redirect('http://127.0.0.1:1/') }, { isSecure: true })
  const { at } = await startPages(t, {
    '/a': redirect('/b'),
    '/b': redirect('c?d#e'),
    '/c?d': 'content',
    '/loop': redirect('/loop'),
    '/invalid': redirect('http://['),
    '/file': redirect('file:///etc/passwd'),
    '/secure': redirect(`${secure.at}/a`),
  })
  t.equal(await fetched(t, `${at}/a`), 'content')
  t.equal((await readerOf(t, `${at}/a`).readDocument(`${at}/a`)).url, `${at}/c?d`)
  t.equal(await fetched(t, `${at}/loop`), `${at}/loop: has more than 5 redirects; name the last URL`)
  t.match(await fetched(t, `${at}/invalid`), /redirects to an invalid URL; /)
  t.match(await fetched(t, `${at}/file`), /^file:\/\/\/etc\/passwd: is not a URL of HTTPS; /)
  t.match(await fetched(t, `${at}/secure`, { ca: certificate }), /redirects to \S+, without HTTPS; use a URL of HTTPS$/)
})

t.test('neither a redirect nor a reference nor a name server leads from a public address to another one', async (t) => {
  const { port, pages, asked } = await startPages(t, { '/a': 'content' }, { isSecure: true, host: '0.0.0.0' })
  const { public: first, other, private: intranet, forbidden } = addresses
  const hosts = () => ({ 'public.test': [[first]], 'other.test': [[other]], 'intranet.test': [[intranet]] })
  const network = (changes: Record<string, string[][]> = {}) => fakeNetwork({ ...hosts(), ...changes })
  pages['/to-other'] = redirect(`https://other.test:${port}/a`)
  pages['/to-intranet'] = redirect(`https://intranet.test:${port}/a`)
  pages['/to-address'] = redirect(`https://${intranet}:${port}/a`)
  pages['/back'] = redirect(`https://public.test:${port}/to-intranet`)
  const read = (host: string, path: string, options = network()) =>
    fetched(t, `https://${host}:${port}${path}`, options)
  t.equal(await read('public.test', '/a'), 'content')
  t.equal(await read('public.test', '/to-other'), 'content')
  t.equal(await read('intranet.test', '/a'), 'content', 'the user named it')
  t.equal(await read('intranet.test', '/to-other'), 'content')
  const private3 =
    /: leads to 127\.0\.0\.3, a private address; only the URL of the document itself may lead to an address/
  asked.length = 0
  t.match(await read('public.test', '/to-intranet'), private3)
  t.match(await read('public.test', '/to-address'), private3)
  t.match(await read('intranet.test', '/back'), private3, 'by way of a public address')
  t.same(asked.splice(0), ['/to-intranet', '/to-address', '/back', '/to-intranet'])
  t.match(await read('public.test', '/a', network({ 'public.test': [[forbidden]] })), /, a forbidden address; /)
  t.match(await read('public.test', '/a', network({ 'public.test': [[first, intranet]] })), private3)
  t.match(
    await read('public.test', '/a', network({ 'public.test': [] })),
    /cannot be fetched \(no address of public\.test\)/,
  )
  t.same(asked.splice(0), [])

  const url = `https://public.test:${port}/a`
  const allowedOrigins = [`https://intranet.test:${port}`, `https://other.test:${port}`]
  // The connection of the document ends, so that the next file needs another one.
  pages['/a'] = (_request, response) => response.writeHead(200, { Connection: 'close' }).end('content')
  const rebound = readerOf(t, url, { ...network({ 'public.test': [[first], [intranet]] }), allowedOrigins })
  await rebound.readDocument(url)
  await t.rejects(rebound.read(`https://public.test:${port}/b`), { message: private3 })
  await t.rejects(rebound.read(`https://intranet.test:${port}/b`), { message: private3 }, 'though the user allows it')
  t.equal((await rebound.read(`https://other.test:${port}/a`)).bytes.length, 7)
  t.same(asked.splice(0), ['/a', '/a'])

  const inside = `https://intranet.test:${port}/a`
  const own = readerOf(t, inside, network({ 'intranet.test': [[intranet], [intranet], [first]] }))
  await own.readDocument(inside)
  for (let count = 0; count < 2; count++) await own.read(inside)
  t.same(asked, ['/a', '/a', '/a'])
})

t.test('references lead to the origin of the document, and to those that the user allows', async (t) => {
  const pages = { '/a': 'content', '/out': redirect('http://127.0.0.2:1/') }
  const { at, port } = await startPages(t, pages)
  const other = await startPages(t, pages)
  const reader = readerOf(t, `${at}/a`, { allowedOrigins: [`http://localhost:${port}`] })
  await reader.readDocument(`${at}/a`)
  t.equal((await reader.read(`${at}/a#b`)).url, `${at}/a`)
  t.equal((await reader.read(`http://localhost:${port}/a`)).url, `http://localhost:${port}/a`)
  await t.rejects(reader.read(`${other.at}/a`), {
    message: `${other.at}/a: is of another origin than the document; allow it with --allow-origin ${other.at} of init or generate, or download the files`,
  })
  await t.rejects(reader.read('file:///etc/passwd'), { message: /^file:\/\/\/etc\/passwd: is not a URL of HTTPS/ })
  await t.rejects(reader.read('data:application/json,{}'), { message: /is not a URL of HTTPS/ })
  await t.rejects(reader.read(`${at}/out`), {
    message: `${at}/out: redirects to http://127.0.0.2:1/; refer to that URL`,
  })
  t.same(other.asked, [])
  for (const origin of ['', 'example.com', 'https://example.com/a', 'http://example.com', 'ftp://example.com'])
    t.throws(() => new UrlReader(`${at}/a`, { allowedOrigins: [origin] }), /no origin; write one such as|not a URL of/)
})

t.test('the size of each file and of all, their number and the time are limited', async (t) => {
  let closed: Promise<unknown> = Promise.resolve()
  const endless: RequestListener = (_request, response) => {
    closed = once(response, 'close')
    const write = () => {
      while (response.write('x'.repeat(1000)));
    }
    response.on('drain', write)
    write()
  }
  const compressed: RequestListener = (_request, response) =>
    response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync('x'.repeat(100_000)))
  const { at } = await startPages(t, {
    '/small': 'x'.repeat(900),
    '/endless': endless,
    '/compressed': compressed,
    '/silent': () => {},
    '/slow': (_request, response) => void response.write('begin'),
  })
  const limited = (limits: FetchOptions['limits']) => ({ limits: { fileBytes: 10_000, ...limits } })
  t.equal(await fetched(t, `${at}/endless`, limited({})), `${at}/endless: has more than 10000 bytes; split it`)
  await closed
  t.match(await fetched(t, `${at}/compressed`, limited({})), /compressed: has more than 10000 bytes; split it/)
  t.match(await fetched(t, `${at}/silent`, limited({ fileTime: 50 })), /\(it took more than 0\.05 s\); check the URL$/)
  t.match(await fetched(t, `${at}/slow`, limited({ fileTime: 500 })), /\(it took more than 0\.5 s\); check the URL$/)
  t.match(await fetched(t, `${at}/slow`, limited({ time: 500 })), /\(the document took more than 0\.5 s\)/)
  const reader = readerOf(t, `${at}/small`, limited({ bytes: 2000, files: 3 }))
  await reader.readDocument(`${at}/small`)
  await reader.read(`${at}/small`)
  await t.rejects(reader.read(`${at}/small`), { message: /small: the document has more than 2000 bytes; split it$/ })
  await t.rejects(reader.read(`${at}/small`), {
    message: /small: the document has more than 3 files; bundle it first$/,
  })
})

t.test('a compressed answer is decompressed, whatever its media type is', async (t) => {
  const encoded =
    (coding: string, bytes: Uint8Array): RequestListener =>
    (_request, response) =>
      response.writeHead(200, { 'Content-Encoding': coding, 'Content-Type': 'image/png' }).end(bytes)
  const { at, pages } = await startPages(t, {
    '/gzip': encoded('gzip', gzipSync('content')),
    '/x-gzip': encoded('X-GZIP', gzipSync('content')),
    '/br': encoded('br', brotliCompressSync('content')),
    '/deflate': encoded('deflate', deflateSync('content')),
    '/identity': encoded('identity', Buffer.from('content')),
  })
  for (const path of Object.keys(pages)) t.equal(await fetched(t, at + path), 'content', path)
  pages['/other'] = encoded('constructor', gzipSync('content'))
  pages['/broken'] = encoded('gzip', Buffer.from('content'))
  pages['/cut'] = encoded('gzip', gzipSync('content').subarray(0, 12))
  t.match(await fetched(t, `${at}/other`), /has the content coding "constructor"; download it, and name the file$/)
  t.match(await fetched(t, `${at}/broken`), /cannot be fetched \(incorrect header check\)/)
  t.match(await fetched(t, `${at}/cut`), /cannot be fetched \(unexpected end of file\)/)
  t.match(await fetched(t, `${at}/none`), /none: responds with 404; name the URL of an OpenAPI document$/)
})
