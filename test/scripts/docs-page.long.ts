import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { writeDocs } from '../../packages/fastify-contract-cli/src/docs/docs-page.ts'
import { compileContract } from '../../packages/fastify-contract-cli/src/emit/compile.ts'
import { open } from '../support/browser.ts'
import { browserSkipReason, chromium } from '../support/chromium.ts'
import { serveDocs } from '../support/serve-docs.ts'
import { inBrowser, inPage, violations } from './accessibility.ts'

const out = t.testdir({ plants: {}, digits: {} })
const service = 'http://127.0.0.1:3100'

/** A document without top-level tags, with each kind of place for an integer. */
const document = `
openapi: 3.1.0
info: { title: Digits, version: '1' }
servers: [{ url: 'https://api.example.com/v1' }]
security: []
paths:
  /things:
    post:
      operationId: createThing
      summary: Create a thing
      parameters:
        - { name: after, in: query, schema: { type: integer, format: int64, default: 9007199254740997 } }
      requestBody:
        content:
          application/json:
            schema: { $ref: '#/components/schemas/Thing' }
            example: { id: 9223372036854775807 }
      responses:
        '200':
          description: Created.
          content:
            application/json:
              schema: { $ref: '#/components/schemas/Thing' }
              example: { id: 9223372036854775805, more: [true, 9007199254740995] }
            application/vnd.thing+json:
              schema: { $ref: '#/components/schemas/Thing' }
components:
  schemas:
    Thing:
      type: object
      properties:
        id: { type: integer, format: int64, minimum: -9223372036854775808, examples: [9223372036854775803] }
        kind: { type: integer, format: int64, enum: [9007199254740993, 9007199254740999] }
        more: { type: array, items: {} }
`

async function writePages(): Promise<{ plants: string; digits: string }> {
  const source = join(out, 'digits', 'openapi.yaml')
  writeFileSync(source, document)
  const { files } = await compileContract(source)
  writeFileSync(join(out, 'digits', 'openapi.json'), files['openapi.json'] as string)
  const digits = await writeDocs(join(out, 'digits'), { generated: dirname(source) })
  return { plants: await writeDocs(join(out, 'plants')), digits }
}

const pages = browserSkipReason ? { plants: '', digits: '' } : await writePages()

async function show(t: Test, url: string, width = 1280, height = 6000) {
  const page = await open(t, chromium, url, width, { height })
  await page.evaluate(inPage)
  // Redoc renders what is in view, one section after the other.
  const last = height > 1000 ? '[data-section-id^="/schemas/"] h2' : 'h1'
  await page.evaluate(`found(() => document.querySelector('${last}')).then(settled)`)
  return page
}

const fileUrl = (path: string): string => pathToFileURL(path).href

t.test('the page of a service names its address, a published one the servers of the document', inBrowser, async (t) => {
  const texts = async (url: string): Promise<{ servers: string; code: string[] }> => {
    const { evaluate, faults, refused } = await show(t, url)
    const shown = await evaluate(`({
      servers: document.querySelector('[data-testid=panel-servers]').innerText,
      code: [...all('main pre'), ...all('.panel-request-samples')].map(({ innerText }) => innerText).filter((text) => text.includes('curl'))
    })`)
    t.same([...faults, ...refused], [])
    return shown
  }
  const served = await texts(await serveDocs(t, pages.plants, service))
  t.match(served.servers, service)
  t.ok(served.code.length > 1)
  for (const code of served.code) t.match(code, `${service}/plants`)
  const base = await texts(await serveDocs(t, pages.digits, service))
  t.match(base.servers, `${service}/v1`)
  for (const code of base.code) t.match(code, `${service}/v1/things`)
  for (const url of [fileUrl(pages.plants), await serveDocs(t, pages.plants)]) {
    const published = await texts(url)
    t.match(published.servers, 'http://127.0.0.1:3000')
    for (const code of published.code) t.match(code, 'http://127.0.0.1:3000/plants')
  }
  t.match((await texts(fileUrl(pages.digits))).servers, 'https://api.example.com/v1')
})

t.test('each digit of an integer is shown and copied', inBrowser, async (t) => {
  const page = await show(t, fileUrl(pages.digits))
  const expected: string[] = document.match(/\d{16,}/g) ?? []
  t.equal(expected.length, 8)
  const text: string = await page.evaluate('document.body.innerText')
  for (const digits of expected) t.ok(text.includes(digits), digits)
  const shown = new Set(text.match(/\d{16,}/g))
  t.same([...shown].sort(), [...expected].sort(), 'and no other integer of so many digits')
  // What the button to copy does, which a browser allows only after a click of a person.
  const copied = await page.evaluate(`(async () => {
    const numbers = []
    document.execCommand = () => {
      const event = new ClipboardEvent('copy', { clipboardData: new DataTransfer(), bubbles: true, cancelable: true })
      document.getSelection().anchorNode.parentElement.dispatchEvent(event)
      numbers.push(...(event.clipboardData.getData('text/plain').match(/\\d{16,}/g) ?? []))
      return true
    }
    for (const button of all('button')) {
      if (/copy/i.test(button.innerText + button.ariaLabel + button.dataset.testid)) button.click()
      await new Promise((done) => setTimeout(done, 20))
    }
    return numbers
  })()`)
  t.ok(copied.length > 0)
  for (const digits of copied) t.ok(expected.includes(digits), digits)
  t.same(page.faults, [])
})

t.test('operations come before schemas in a document without tags, and axe finds nothing', inBrowser, async (t) => {
  const page = await show(t, fileUrl(pages.digits))
  const ids: string[] = await page.evaluate(`all('[data-section-id]').map(({ dataset }) => dataset.sectionId)`)
  const first = (pattern: RegExp) => ids.findIndex((id) => pattern.test(id))
  t.ok(first(/creatething/i) > 0)
  t.ok(first(/creatething/i) < first(/^\/schemas/), ids.join(' '))
  t.same(await violations(page), [])
})

/** Returns the bounds of the first element with a selector. */
const boundsOf = (selector: string) =>
  `(({ top, bottom, left, right, width }) => ({ top, bottom, left, right, width }))(document.querySelector('${selector}').getBoundingClientRect())`

for (const width of [1280, 390])
  t.test(`the bar stays in view, and code has no broken lines, ${width} pixels wide`, inBrowser, async (t) => {
    const { evaluate } = await show(t, await serveDocs(t, pages.plants, service), width, 800)
    const [own, document] = width > 672 ? ['Documentation ', 'OpenAPI '] : ['', '']
    const words = await evaluate(`document.querySelector('.pages').innerText.replace(/\\s+/g, ' ')`)
    t.equal(words, `Plant store ${own}History ${document}Try an operation`)
    await evaluate(`scrollTo(0, 1500)`)
    await evaluate('settled()')
    t.ok((await evaluate('scrollY')) > 500)
    const bar = await evaluate(boundsOf('.pages'))
    t.match(bar, { top: 0, left: 0 })
    t.ok(bar.bottom <= 48)
    if (width > 672) t.equal((await evaluate(boundsOf('.menu-content'))).top, bar.bottom, 'the contents begin below it')
    else {
      const button = await evaluate(boundsOf('[data-testid=floating-button]'))
      t.ok(button.top >= 0 && button.bottom <= bar.bottom && button.right <= width, 'the menu button is in the bar')
      const link = await evaluate(boundsOf('.pages a:last-of-type'))
      t.ok(link.right <= button.left, 'and covers no link')
    }
    const lines = await evaluate(`(() => {
      const code = document.querySelector('[data-component-name="Markdown/Markdown"] pre')
      const { lineHeight, paddingTop } = getComputedStyle(code)
      return { shown: Math.round((code.clientHeight - 2 * parseFloat(paddingTop)) / parseFloat(lineHeight)), own: code.innerText.trimEnd().split('\\n').length }
    })()`)
    t.equal(lines.shown, lines.own)
    t.equal(
      await evaluate('document.documentElement.scrollWidth'),
      await evaluate('document.documentElement.clientWidth'),
    )
  })

t.test('the layout can be changed by the keyboard', inBrowser, async (t) => {
  const { evaluate, pressEnter } = await show(t, fileUrl(pages.plants))
  const panels = '#api-content [data-section-id="/plants"] div:has(> [data-testid=middle-panel])'
  const direction = () => evaluate(`getComputedStyle(document.querySelector('${panels}')).flexDirection`)
  t.equal(await direction(), 'row')
  await evaluate(`document.querySelector('[aria-label="Change the layout"]').focus()`)
  await pressEnter()
  await evaluate('settled()')
  t.equal(await direction(), 'column')
})

t.test('what a link of the contents leads to begins below the bar', inBrowser, async (t) => {
  const { evaluate } = await show(t, fileUrl(pages.plants), 1280, 800)
  for (const [pattern, heading] of [
    ['^#/section/errors$', '[data-section-id="/section/errors"] h2'],
    ['^#/plants$', '#api-content [data-section-id="/plants"] h2'],
    ['createplant$', '#api-content [data-section-id="/plants/createplant"] h2'],
  ] as const) {
    await evaluate(`go(new RegExp(${JSON.stringify(pattern)}))`)
    await evaluate(`found(() => document.querySelector('${heading}')?.getBoundingClientRect().top < 200)`)
    const { top } = await evaluate(boundsOf(heading))
    t.ok(top > 45, `${heading} ${top}`)
  }
})

t.test('no space is wasted between a tag and its operation, or beside texts', inBrowser, async (t) => {
  const { evaluate } = await show(t, fileUrl(pages.plants))
  const tag = await evaluate(
    boundsOf('#api-content [data-section-id="/plants"] [data-component-name="Markdown/Markdown"]'),
  )
  const operation = await evaluate(boundsOf('#api-content [data-section-id="/plants/createplant"] h2'))
  t.ok(operation.top - tag.bottom < 64, `${operation.top - tag.bottom}`)
  const servers = await evaluate(boundsOf('[data-testid=panel-servers]'))
  const start = await evaluate(boundsOf('[data-section-id="/section/quick-start"]'))
  t.ok(start.top >= servers.bottom)
  t.ok(start.right >= servers.right - 1, 'the quick start takes both columns')
  const samples = await evaluate(boundsOf('.panel-request-samples'))
  t.match([servers.left, servers.right], [samples.left, samples.right], 'the servers are above the samples')
  const code = await evaluate(boundsOf('.panel-request-samples pre'))
  const copy = await evaluate(boundsOf('.panel-request-samples .code-block-header'))
  t.ok(code.right <= copy.left, 'the button to copy covers no code')
})

t.test('the token field is in a form, as password managers expect', async (t) => {
  const { tryPage } = await import('../../packages/fastify-contract-cli/src/docs/try-page.ts')
  const html = await tryPage(JSON.parse(readFileSync('generated/openapi.json', 'utf8')))
  t.match(html, /<form>\n<input type="text" autocomplete="username" value="bearer" hidden>/)
  t.match(html, /<input id="credential-0" type="password" autocomplete="current-password" name="bearer"/)
})
