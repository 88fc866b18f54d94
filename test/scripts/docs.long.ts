import { execFile } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { run } from 'fastify-contract-test-support/child-process'
import t from 'tap'
import { writeStaleDocs } from '../../packages/fastify-contract-cli/src/docs/docs-page.ts'
import { resolve as resolvePointer } from '../../packages/fastify-contract-cli/src/document/json-pointer.ts'
import { endpoints } from '../../packages/fastify-contract-cli/src/document/openapi-document.ts'
import { open } from '../support/browser.ts'
import { browserSkipReason, chromium } from '../support/chromium.ts'
import { contractErrorNumbers, document } from '../support/contract.ts'
import { serveDocs } from '../support/serve-docs.ts'

const operations = endpoints(document).map(({ pointer, responses }) => ({
  ...(resolvePointer(document, pointer) as { summary: string }),
  descriptions: Object.values(responses).map((response) => (response as { description?: string }).description ?? ''),
}))
const errors = contractErrorNumbers.map(String)
const schemas = Object.keys((document.components as { schemas: object }).schemas)

const out = t.testdir({ first: {}, second: {} })
const page = join(out, 'first', 'index.html')

t.test('two builds give identical, self-contained pages', async (t) => {
  await Promise.all(
    ['first', 'second'].map((name) =>
      promisify(execFile)(process.execPath, [
        '--import=tsx',
        'packages/fastify-contract-cli/src/cli.ts',
        'docs',
        '--client',
        'plant-store/client',
        '--out',
        join(out, name),
      ]),
    ),
  )
  const html = readFileSync(page, 'utf8')
  for (const name of ['index.html', 'history.html', 'openapi.json'])
    t.ok(readFileSync(join(out, 'first', name)).equals(readFileSync(join(out, 'second', name))), name)
  // A browser test covers URLs within the scripts: it checks the requests that the browser sends.
  const markup = html.replaceAll(/<script[^>]*>.*?<\/script>/gs, (script) => script.slice(0, script.indexOf('>') + 1))
  const load = /<(script|img|iframe|source)[^>]* src=|<link[^>]* href="(?!data:)|@import|url\(['"]?(https?:)?\/\//
  t.equal(load.exec(markup)?.[0], undefined)
  t.ok(html.includes(`"version":"${document.info.version}"`), 'the version')
  t.ok(errors.length > 0 && operations.length > 0 && schemas.length > 0)
  for (const error of errors) t.ok(html.includes(`| ${error} |`), error)
  for (const text of [...operations.map(({ summary }) => summary), ...schemas]) t.ok(html.includes(text), text)
})

t.test('a page is rebuilt only when it is incomplete or the document changed', async (t) => {
  const whole = readFileSync(page)
  const directory = t.testdir({ 'index.html': whole })
  const path = join(directory, 'index.html')
  const { mtimeMs } = statSync(path)
  await writeStaleDocs(directory, { client: 'plant-store/client' })
  t.equal(statSync(path).mtimeMs, mtimeMs)
  writeFileSync(path, whole.toString().replace(/[\da-f]{64} -->\n$/, `${'0'.repeat(64)} -->\n`))
  await writeStaleDocs(directory, { client: 'plant-store/client' })
  t.ok(whole.equals(readFileSync(path)))
})

const served = await serveDocs(t, page)
const places = { 'on the disk': pathToFileURL(resolve(page)).href, served }

for (const [place, width] of [
  ['on the disk', 1280],
  ['on the disk', 400],
  ['served', 1280],
] as const)
  t.test(
    `a browser ${width} pixels wide shows the whole page ${place} and sends no request`,
    { skip: browserSkipReason },
    async (t) => {
      const { requests, refused, faults, evaluate } = await open(t, chromium, places[place], width)
      const expected = [
        ...errors,
        ...schemas,
        ...operations.flatMap(({ summary, descriptions }) => [summary, ...descriptions.map(plain)]),
      ]
      // On a busy machine the browser may not have rendered a section yet, so read the page up to five times.
      let text = ''
      for (let looks = 0; looks < 5 && !expected.every((part) => text.includes(part)); looks++)
        text += await evaluate(readEverything)
      for (const part of expected) t.ok(text.includes(part), part)
      const { scrollWidth, clientWidth } = JSON.parse(await evaluate(widths))
      t.equal(scrollWidth, clientWidth, 'the page does not scroll horizontally')
      t.same(
        requests.filter((url) => url !== places[place] && !/^data:/.test(url)),
        [],
      )
      t.same([...refused, ...faults], [])
    },
  )

t.test('the page links to the try-out forms only when a service serves it', async (t) => {
  const link = '<a href="try.html">Try an operation</a></nav>'
  t.ok((await (await fetch(served)).text()).includes(link))
  const listening = await serveDocs(t, page, 'http://0.0.0.0:3100')
  const named = link.replace('.html"', '.html" data-service="http://127.0.0.1:3100"')
  t.ok((await (await fetch(listening)).text()).includes(named), 'the address of the service')
  t.notOk(readFileSync(page, 'utf8').includes(link))
  t.notOk(existsSync(join(out, 'first', 'try.html')))
})

t.test('--serve serves the page, its history, the document and nothing else', async (t) => {
  const { find } = run(t, 'packages/fastify-contract-cli/src/cli.ts', {}, [
    'docs',
    '--serve',
    '--out',
    join(out, 'served'),
    '--client',
    'plant-store/client',
  ])
  const [address = ''] = await find('stdout', /http:\/\/127\.0\.0\.1:\d+\//)
  const answer = await fetch(address)
  t.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
  t.ok((await answer.text()) === readFileSync(page, 'utf8'))
  t.match(await (await fetch(new URL('history.html?a', address))).text(), '<h1>History of ')
  const document = await fetch(new URL('openapi.json', address))
  t.equal(document.headers.get('content-type'), 'application/json')
  t.equal(await document.text(), readFileSync('generated/openapi.json', 'utf8'))
  t.equal((await fetch(new URL('package.json', address))).status, 404)
  t.equal((await fetch(address, { method: 'POST' })).status, 404)
})

/** Returns Markdown as the page shows it: in one line, without backticks and the targets of links. */
function plain(markdown: string): string {
  return markdown
    .replaceAll('`', '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

const widths = `(({ scrollWidth, clientWidth }) => JSON.stringify({ scrollWidth, clientWidth }))(document.documentElement)`

/** Opens every tab and every menu entry, because the page shows one section at a time. Returns all visible text. */
const readEverything = `(async () => {
  const seen = []
  const look = async () => {
    await new Promise((done) => setTimeout(done, 200))
    seen.push(document.body.innerText)
  }
  const links = () => [...document.querySelectorAll('.menu-content a[href^="#/"]')].map((link) => link.hash)
  for (let tries = 0; tries < 100 && links().length === 0; tries++) await look()
  for (const link of links()) {
    location.hash = link
    await look()
    for (const tab of document.querySelectorAll('[role=tab]')) {
      tab.click()
      await look()
    }
  }
  return seen.join(' ').replaceAll(/\\s+/g, ' ')
})()`
