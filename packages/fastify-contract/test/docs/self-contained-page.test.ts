import t from 'tap'
import { selfContainedPage } from '../../src/docs/docs-page.ts'
import { sourceOf } from '../../src/docs/plain-page.ts'

const groups = [
  'return[r,_h(r)].some(e=>n===e||n.endsWith(e)||n.includes(e+`/`))}',
  'e.content===null||s&&!P(e.gatePath,t)?null:1',
  '{shouldRenderOps:e.sectionId===u||!1}',
].join('\n')
const script = `'https://cdn.redoc.ly/redoc/logo-mini.svg'\n${groups}\n  const __redoc_options = {};`
const built = `<meta content="SCRIPT_HASHES"><div id="redoc"><b></b></div><script type="module">${script}</script>`

t.test('the logo is emptied, samples are named and the prerendered part is removed', async (t) => {
  const html = selfContainedPage(built, 'own()')
  t.notMatch(html, /redoc\.ly|<b>/)
  t.match(html, /const __redoc_options = \{"codeSamples":\{"languages":\[\{"lang":"curl","label":"curl"\}/)
  t.ok(html.startsWith(`<meta content="${sourceOf('own()')} 'sha256-`))
})

t.test('groups of operations are expanded', async (t) => {
  const html = selfContainedPage(built, '')
  for (const text of ['return!0}', 'e.content===null?null:1', '{shouldRenderOps:!0}']) t.ok(html.includes(text), text)
})

t.test('a page of another layout is rejected', async (t) => {
  const others = [
    built.replace('<div id="redoc">', '<div>'),
    built.replace('<script type="module">', '<script>'),
    built.replace('</script>', ''),
    `<script></script>${built}`,
    built.replace('cdn.redoc.ly', 'example.com'),
    built.replace('__redoc_options', 'options'),
    built.replace('gatePath', 'path'),
  ]
  for (const other of others) t.throws(() => selfContainedPage(other, ''), /differs from that of version 2\.77/, other)
})
