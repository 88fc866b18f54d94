import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { writeDocs } from '../../packages/fastify-contract-cli/src/docs/docs-page.ts'
import { open } from '../support/browser.ts'
import { browserSkipReason, chromium } from '../support/chromium.ts'
import { houseDocument } from '../support/house-document.ts'
import { serveDocs } from '../support/serve-docs.ts'
import { clickEverything, withInjections } from './docs-injections.ts'

const out = t.testdir({})
const { document, attacks } = withInjections(parse(readFileSync(houseDocument, 'utf8')))
writeFileSync(join(out, 'openapi.json'), JSON.stringify(document))
// The linter would reject this document. The page must be safe without the linter.
const page = await writeDocs(join(out, 'attacked'), { generated: out })
const usual = await writeDocs(join(out, 'usual'))

t.test('the policy allows the two scripts of the page by their hashes, and nothing from elsewhere', async (t) => {
  for (const path of [page, usual]) {
    const html = readFileSync(path, 'utf8')
    const [, policy = ''] = /<meta http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html) ?? []
    const directives = new Map(policy.split('; ').map((text) => text.split(/ (.*)/).slice(0, 2) as [string, string]))
    const scripts = Array.from(
      html.matchAll(/<script(?: type="module")?>(.*?)<\/script>/gs),
      ([, text]) => text as string,
    )
    const markup = scripts.reduce((rest, text) => rest.replace(text, () => ''), html)
    t.equal(markup.match(/<script/g)?.length, 2, 'the page has two scripts')
    const hashes = scripts.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`)
    t.equal(directives.get('script-src'), hashes.join(' '))
    directives.delete('script-src')
    t.same(Object.fromEntries(directives), {
      'default-src': "'none'",
      'style-src': "'unsafe-inline'",
      'img-src': 'data:',
      'font-src': 'data:',
      'frame-src': "'none'",
      'object-src': "'none'",
      'worker-src': "'none'",
      'base-uri': "'none'",
      'form-action': "'none'",
    })
    t.notMatch(markup, /attack-|srcdoc/, 'the markup contains no text of the document')
  }
})

const skip = browserSkipReason

t.test('no description runs a script, loads a resource, sends a form or navigates away', { skip }, async (t) => {
  const url = await serveDocs(t, page)
  const { requests, refused, evaluate } = await open(t, chromium, url, 1280)
  const shown: string[] = await evaluate(clickEverything)
  t.same(shown.sort(), [...attacks].sort(), 'each attack was on the page')
  t.equal(await evaluate('String(globalThis.attacked)'), 'undefined')
  t.equal(await evaluate("location.href.replace(/#.*/, '')"), url)
  t.same(
    requests.filter((asked) => asked !== url && !/^data:/.test(asked) && !refused.includes(asked)),
    [],
  )
})

t.test('the search finds an operation by its summary and by its operationId', { skip }, async (t) => {
  const { evaluate, faults } = await open(t, chromium, `file://${usual}`, 1280)
  for (const text of ['create', 'createPlant'])
    t.match(await evaluate(search(text)), /POST\s+\/plants\s+Create a plant/, text)
  t.same(faults, [])
})

/** Types into the search field and returns the text of the search results. */
const search = (words: string) => `(async () => {
  const find = (selector) => document.querySelector(selector)
  const look = () => new Promise((done) => setTimeout(done, 100))
  let field = null
  for (let tries = 0; tries < 100 && field === null; tries++) {
    find('[data-testid=search-trigger]')?.click()
    await look()
    field = find('input[placeholder^=Search]')
  }
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, '${words}')
  field.dispatchEvent(new Event('input', { bubbles: true }))
  let text = ''
  for (let tries = 0; tries < 100 && !text.includes('Create a plant'); tries++) {
    await look()
    text = field.closest('header').parentElement.innerText
  }
  return text
})()`
