import { join } from 'node:path'
import t from 'tap'
import { historyPage } from '../../packages/fastify-contract-cli/src/docs/history-page.ts'
import { contractEdits } from './contract-edits.ts'

const { released, edited } = contractEdits()
const version = (document: object, version: string, more: object = {}) =>
  JSON.stringify({ ...document, info: { title: '<i>Plants</i>', version, ...more } })

t.test('the history lists the changes of each version, newest first, without scripts', async (t) => {
  const newest = version(edited, '2.1.0', { description: '<script>' })
  const directory = t.testdir({
    'openapi.json': newest,
    released: { '1.0.0.json': version(released, '1.0.0'), '2.0.0.json': version(edited, '2.0.0') },
  })
  const html = await historyPage(join(directory, 'openapi.json'), join(directory, 'released'))
  t.match(html, /default-src 'none'; style-src 'sha256-[^']+'; img-src data:; base-uri 'none'; form-action 'none'/)
  t.notMatch(html, /<script|<i>/)
  t.match(html, '<h1>History of &lt;i&gt;Plants&lt;/i&gt;</h1>')
  const [, unreleased, second, first] = html.split('<h2>')
  t.match(
    unreleased,
    /^2\.1\.0, not released<\/h2>\n<h3>Text: .*<li>modified <code>info<\/code> <code>description<\/code>/s,
  )
  t.match(second, /^2\.0\.0<\/h2>\n<h3>Breaking: .*<h3>Compatible: .*<h3>Text: /s)
  t.match(second, /<li>(added|modified|removed) <code>paths<\/code> <code>\/\w+/)
  t.match(first, '1.0.0</h2>\n<p>The first release, with these operations:</p>\n<ul>')
})

t.test('a released document gets no section of its own', async (t) => {
  const text = version(released, '1.0.0')
  const directory = t.testdir({ 'openapi.json': text, released: { '1.0.0.json': text } })
  const html = await historyPage(join(directory, 'openapi.json'), join(directory, 'released'))
  t.equal(html.split('<h2>').length, 2)
})

t.test('a document that differs only in its layout has no changes', async (t) => {
  const text = version(released, '1.0.0')
  const directory = t.testdir({ 'openapi.json': `${text}\n`, released: { '1.0.0.json': text } })
  const html = await historyPage(join(directory, 'openapi.json'), join(directory, 'released'))
  t.match(html, '<h2>1.0.0, not released</h2>\n<p>No changes since 1.0.0.</p>')
})
