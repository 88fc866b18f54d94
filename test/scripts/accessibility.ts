import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import axe from 'axe-core'
import type { Test } from 'tap'
import { writeDocs } from '../../packages/fastify-contract-cli/src/docs/docs-page.ts'
import { open } from '../support/browser.ts'
import { browserSkipReason, chromium } from '../support/chromium.ts'

export const inBrowser = { skip: browserSkipReason, timeout: 120_000 }

type Page = Awaited<ReturnType<typeof open>>

/** Opens a page in a browser and defines the tests' helper functions in it. */
export async function show(t: Test, path: string, width: number, dark: boolean): Promise<Page> {
  const page = await open(t, chromium, pathToFileURL(resolve(path)).href, width, { dark, height: 1400 })
  await page.evaluate(
    `new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', done))`,
  )
  await page.evaluate(inPage)
  return page
}

/** Waits until a page stops changing. Returns the violations that axe finds in it, one line for each element. */
export async function violations({ evaluate }: Page): Promise<string[]> {
  await evaluate(`settled()`)
  await evaluate(`if (globalThis.axe === undefined) { ${axe.source} }`)
  return await evaluate(`axe.run(document, { iframes: false, resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(
    ({ id, nodes }) => nodes.map(({ html, any, all, none }) => [id, html, [...any, ...all, ...none][0]?.message].join(' '))
  ))`)
}

export const inPage = `
globalThis.settled = async () => {
  for (let last, still = 0; still < 3; ) {
    await new Promise((done) => setTimeout(done, 100))
    const now = document.body.innerHTML
    still = now === last ? still + 1 : 0
    last = now
  }
}
globalThis.all = (selector) => [...document.querySelectorAll(selector)]
globalThis.found = async (find) => {
  for (let tries = 0; tries < 200; tries++) {
    const element = find()
    if (element) return element
    await new Promise((done) => setTimeout(done, 50))
  }
  throw new Error('not found: ' + find)
}
globalThis.go = async (pattern) => {
  location.hash = (await found(() => all('.menu-content a').find(({ hash }) => pattern.test(hash)))).hash
  await settled()
}
globalThis.type = (field, text) => {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, text)
  field.dispatchEvent(new Event('input', { bubbles: true }))
}
undefined
`

/** The actions of a reader, in order. Each leads to a state of the page. */
const steps: Record<string, string> = {
  start: `found(() => document.querySelector('h1'))`,
  'a tag': `go(/^#\\/plants$/)`,
  'an operation': `go(/createplant$/)`,
  'a response': `found(() => all('[role=tab]').find((tab) => tab.innerText.includes('409'))).then((tab) => tab.click())`,
  'the security': `found(() => all('button').find((button) => /security details/.test(button.innerText))).then((button) => button.click())`,
  'menus of servers and samples': `found(() => document.querySelector('[aria-label=Close]')).then((button) => button.click())
    .then(settled).then(() => all('.panel-request-samples [aria-haspopup=menu]').forEach((button) => button.click()))`,
  'another sample': `found(() => all('[role=menuitem]').find((item) => /TypeScript/.test(item.innerText))).then((item) => item.click())`,
  'a schema': `go(/^#\\/schemas$/).then(() => go(/schemas\\/error$/))`,
  'the empty search': `found(() => document.querySelector('[data-testid=search-trigger]')).then((trigger) => trigger.click())`,
  'search results': `found(() => document.querySelector('[data-testid=search-dialog] input')).then((field) => type(field, 'createPlant'))
    .then(() => found(() => document.querySelector('[data-testid=search-dialog]').innerText.includes('Create a plant')))`,
}

/** Tests each state of the plant store's page in light and dark mode. `width` is in pixels. */
export async function testStates(t: Test, width: number): Promise<void> {
  const page = browserSkipReason ? '' : await writeDocs(t.testdir({}))
  for (const dark of [false, true]) {
    const name = `${width} pixels wide, ${dark ? 'dark' : 'light'}`
    t.test(`axe finds nothing on any state of the page, ${name}`, inBrowser, async (t) => {
      const shown = await show(t, page, width, dark)
      for (const [state, step] of Object.entries(steps)) {
        await shown.evaluate(`(async () => { await ${step} })()`)
        t.same(await violations(shown), [], state)
      }
      t.same(shown.faults, [])
    })
  }
}
