import { stringifyJson } from 'fastify-contract/json'
import t from 'tap'
import { digitsOf } from '../../src/docs/exact-digits.ts'
import { withStandIns } from '../../src/docs/integer-stand-ins.ts'
import { layOutJson } from '../../src/docs/layout-json.ts'
import { atService } from '../../src/docs/service-address.ts'
import { shownDocument } from '../../src/docs/shown-document.ts'
import type { Document } from '../../src/document/openapi-document.ts'

const enough = 10_000

t.test('the layout of JSON keeps each digit and each character of its values', async (t) => {
  const text = '{"id":9223372036854775807,"a":[1.50,-0,1e400,"\\u00e4 {,:\\"}"],"b":{},"c":[ ],"d":[[null]]}'
  t.equal(
    layOutJson(text, enough),
    `{
  "id": 9223372036854775807,
  "a": [
    1.50,
    -0,
    1e400,
    "\\u00e4 {,:\\"}"
  ],
  "b": {},
  "c": [],
  "d": [
    [
      null
    ]
  ]
}`,
  )
  for (const plain of ['7', '"a b"', 'null']) t.equal(layOutJson(` ${plain} `, enough), plain)
  for (const other of ['', '{"a":', 'a b', '[1] 2', '\ufeff[1]']) t.equal(layOutJson(other, enough), other)
})

t.test('the layout of JSON is bounded, however deep and long its values are', async (t) => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  t.equal(layOutJson(deep, 4 * 1_048_576), deep)
  const long = JSON.stringify(['"'.repeat(500_000)])
  t.equal(layOutJson(long, 4 * 1_048_576), `[\n  ${long.slice(1, -1)}\n]`)
})

/** Integers that JavaScript rounds, some of them to the same number. */
const wide = [2n ** 63n - 1n, 2n ** 63n - 2n, -(2n ** 63n), 2n ** 63n, 2n ** 53n + 1n, 10n ** 30n + 1n]

t.test('each integer gets a number of its own, from whose text its digits are restored', async (t) => {
  const given = { wide, held: 2n ** 53n, other: [1, 'a', null, { b: true }] }
  const { value, integers } = withStandIns(given)
  t.ok((value.wide as unknown[]).every((one) => typeof one === 'number'))
  t.match(value, { held: 2 ** 53, other: [1, 'a', null, { b: true }] })
  t.equal(digitsOf(integers)(JSON.stringify(value)), stringifyJson(given))
  t.same(
    (value.wide as unknown as number[]).map((one, index) => Math.abs(one / Number(wide[index]) - 1) < 1e-10),
    wide.map(() => true),
    'the numbers are close to the integers',
  )
})

t.test('no other number of a document is taken for the place of an integer', async (t) => {
  // The numbers that stand for integers by default, as texts and numbers of the document.
  const others = withStandIns(wide).integers.map(([text]) => text)
  const given = { wide, others, numbers: others.map(Number) }
  const { value, integers } = withStandIns(given)
  t.same(digitsOf(integers)(JSON.stringify(value)), stringifyJson(given))
})

t.test('many integers with one double each get a number', async (t) => {
  const many = Array.from({ length: 2000 }, (_, index) => 2n ** 63n - BigInt(index))
  const { value, integers } = withStandIns(many)
  t.equal(new Set(value).size, many.length)
  t.equal(digitsOf(integers)(JSON.stringify(value)), stringifyJson(many))
})

const responses = { 204: { description: 'Done.' } }
const documentOf = (more: object): Document =>
  ({ openapi: '3.1.0', info: { title: 'Test', version: '1' }, security: [], ...more }) as unknown as Document

t.test('every operation has a tag, and every tag is declared, in order of its first use', async (t) => {
  const tags = [{ name: 'b', description: 'B.' }]
  const paths = {
    '/a': { get: { operationId: 'a', tags: ['a', 'b'], responses } },
    '/b': { get: { operationId: 'b', responses }, put: { operationId: 'c', tags: ['c'], responses } },
  }
  const shown = shownDocument(documentOf({ tags, paths }), '') as unknown as { tags: object[]; paths: typeof paths }
  t.same(shown.tags, [...tags, { name: 'a' }, { name: 'Operations' }, { name: 'c' }])
  t.match(shown.paths, { '/b': { get: { tags: ['Operations'] } } })
  t.same((shownDocument(documentOf({ paths }), '') as unknown as { tags: object[] }).tags.length, 4)
  const grouped = documentOf({ tags, paths, 'x-tagGroups': [{ name: 'all', tags: ['a', 'b'] }] })
  t.same((shownDocument(grouped, '') as unknown as { tags: object[] }).tags, tags, 'groups list their tags')
})

const service = 'http://127.0.0.1:3100'

/** What the page of a service shows of a document. */
// biome-ignore lint/suspicious/noExplicitAny: the members of a document have no types here
function served(more: object): any {
  const shown = shownDocument(documentOf(more), './client.ts')
  atService(shown, service)
  return shown
}

t.test('servers, samples and code of descriptions name the service that serves the page', async (t) => {
  const url = 'https://api.example.com/v1/'
  const text = `See ${url}.

\`\`\`sh
curl https://api.example.com/v1/a https://api.example.com:8443 https://api.example.community
\`\`\`

https://api.example.com
`
  const own = { lang: 'sh', label: 'own', source: `curl ${url}a` }
  const paths = {
    '/a': { get: { operationId: 'a', responses, description: text } },
    '/b': {
      servers: [{ url: '/v2' }],
      put: {
        operationId: 'b',
        responses,
        servers: [{ url: 'http://{host}/v3', variables: { host: { default: 'b.c' } } }],
      },
      delete: { operationId: 'c', responses },
    },
    '/d': { get: { operationId: 'd', responses, 'x-codeSamples': [own] } },
  }
  const servers = [{ url, description: 'Production' }, { url: 'https://staging.example.com/v1' }, { url: '/v4' }]
  const info = { title: 'Test', version: '1', description: text }
  const { paths: shown, ...document } = served({
    info,
    servers,
    paths,
    tags: [{ name: 'Operations', description: text }],
  })
  const description = 'The service of this page'
  t.same(document.servers, [
    { url: `${service}/v1`, description },
    { url: `${service}/v4`, description },
  ])
  const expected = text.replace('curl https://api.example.com/', `curl ${service}/`)
  t.equal(document.info.description, expected)
  t.equal(document.tags[0].description, expected)
  t.ok(shown['/a'].get.description.includes(expected.trimEnd()))
  t.same(shown['/b'].servers, [{ url: `${service}/v2`, description }])
  t.same(shown['/b'].put.servers, [{ url: `${service}/v3`, description }])
  const sourcesOf = (operation: { 'x-codeSamples': { source: string }[] }) =>
    operation['x-codeSamples'].map(({ source }) => /https?:\/\/[^'\s]*/.exec(source)?.[0])
  t.same(sourcesOf(shown['/a'].get), [`${service}/v1/a`, `${service}/v1`, `${service}/v1/a`])
  t.same(sourcesOf(shown['/b'].put), [`${service}/v3/b`, `${service}/v3`, `${service}/v3/b`])
  t.same(sourcesOf(shown['/b'].delete), [`${service}/v2/b`, `${service}/v2`, `${service}/v2/b`])
  t.same(sourcesOf(shown['/d'].get), [`${service}/v1/a`])
})

t.test('the page of a service names it if the document has no servers, or those of other schemes', async (t) => {
  const paths = { '/a': { get: { operationId: 'a', responses } } }
  const { servers, paths: shown } = served({ paths })
  t.match(servers, [{ url: service }])
  t.match(shown['/a'].get['x-codeSamples'][0].source, `curl '${service}/a'`)
  t.match(served({ servers: [{ url: 'urn:a' }] }).servers.length, 1)
})

t.test('what stands for an origin in a document is no pattern and no replacement', async (t) => {
  const info = { title: 'Test', version: '1', description: '```\nhttp://a.b http://axb $& http://a.b/$1\n```' }
  const { description } = served({ info, servers: [{ url: 'http://a.b' }] }).info
  t.equal(description, `\`\`\`\n${service} http://axb $& ${service}/$1\n\`\`\``)
})
