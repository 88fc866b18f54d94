import t from 'tap'
import { selfContainedPage } from '../../src/docs/docs-page.ts'
import { sourceOf } from '../../src/docs/plain-page.ts'

const script = "'https://cdn.redoc.ly/redoc/logo-mini.svg'\n  const __redoc_options = {};"
const built = `<meta content="SCRIPT_HASHES"><div id="redoc"><b></b></div><script type="module">${script}</script>`

t.test('the logo is emptied, samples are named and the prerendered part is removed', async (t) => {
  const html = selfContainedPage(built, 'own()')
  t.notMatch(html, /redoc\.ly|<b>/)
  t.match(html, /const __redoc_options = \{"codeSamples":\{"languages":\[\{"lang":"curl","label":"curl"\}/)
  t.ok(html.startsWith(`<meta content="${sourceOf('own()')} 'sha256-`))
})

t.test('a page of another layout is rejected', async (t) => {
  const others = [
    built.replace('<div id="redoc">', '<div>'),
    built.replace('<script type="module">', '<script>'),
    built.replace('</script>', ''),
    `<script></script>${built}`,
    built.replace('cdn.redoc.ly', 'example.com'),
    built.replace('__redoc_options', 'options'),
  ]
  for (const other of others) t.throws(() => selfContainedPage(other, ''), /differs from that of version 2\.77/, other)
})
