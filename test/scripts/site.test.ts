import { resolve } from 'node:path'
import t from 'tap'
import { headingAnchor, markdownPages } from '../../scripts/lint/markdown-links.ts'
import { siteTarget, usePageLinks } from '../../scripts/site/page-links.ts'
import { withContentPolicy } from '../../scripts/site/site-files.ts'
import { landingPage, siteSections } from '../../scripts/site/site-pages.ts'

t.test('the navigation has each page once, in the order and with the words of the index', async (t) => {
  const sections = siteSections('.')
  const files = sections.flatMap(({ pages }) => pages.map(({ file }) => file))
  t.same(
    files.toSorted(),
    markdownPages('.')
      .filter((file) => file !== landingPage)
      .toSorted(),
  )
  for (const { title } of sections.flatMap(({ pages }) => pages)) t.notMatch(title, /[`[\]]|\.md$/)

  const directory = t.testdir({
    'README.md':
      '# The `store`\n\n| [The engine](packages/fastify-contract/README.md) | x |\n\n- [Stores](docs/stores.md): `a`\n',
    'CHANGELOG.md': 'no heading',
    docs: {
      'stores.md': '# Other title\n| [Log](../CHANGELOG.md) | x |\n',
      decisions: { 'README.md': '# Decisions\n', 'a.md': '# A\n' },
    },
    packages: {
      'fastify-contract': {
        'README.md': '# Engine\n| page | content |\n|---|---|\n| [Client](docs/client.md) | [calls](x.md) it |\n',
        docs: { 'client.md': '# Client\n', 'transcripts.md': '# Transcripts\n' },
      },
      'fastify-contract-cli': { 'README.md': '# Commands\n' },
      'create-fastify-contract': { 'README.md': '# Create\n' },
    },
  })
  const rows = siteSections(directory).map(({ pages }) => pages.map((page) => Object.values(page)))
  t.same(rows, [
    [
      ['packages/fastify-contract/README.md', 'Engine', ''],
      ['packages/fastify-contract/docs/client.md', 'Client', 'calls it'],
      ['packages/fastify-contract/docs/transcripts.md', 'Transcripts', ''],
    ],
    [
      ['packages/fastify-contract-cli/README.md', 'Commands', ''],
      ['packages/create-fastify-contract/README.md', 'Create', ''],
    ],
    [
      ['README.md', 'The store', ''],
      ['docs/stores.md', 'Stores', 'a'],
      ['CHANGELOG.md', 'CHANGELOG.md', ''],
    ],
    [
      ['docs/decisions/README.md', 'Decisions', ''],
      ['docs/decisions/a.md', 'A', ''],
    ],
  ])
})

const pages = [landingPage, 'README.md', 'docs/stores.md', 'docs/decisions/README.md']
const address = 'https://git.example/owner/name'

/** Returns the target on the site of a link on a page. */
const target = (page: string, href: string, known: string | undefined = address) => {
  const relativePath = page === landingPage ? 'index.md' : page
  return siteTarget(href, { realPath: resolve(page), relativePath }, { root: resolve('.'), pages, address: known })
}

t.test('a link to a page leads to its place on the site, and a link to another file to the repository', async (t) => {
  t.equal(target('docs/stores.md', 'decisions/README.md#stores'), 'decisions/README.md#stores')
  t.equal(target('docs/decisions/README.md', '../../README.md'), '../../README.md')
  t.equal(target(landingPage, '../../docs/stores.md#sqlite'), 'docs/stores.md#sqlite')
  t.equal(target('docs/stores.md', '../src/store/open.ts#L3'), `${address}/blob/HEAD/src/store/open.ts#L3`)
  t.equal(target('docs/stores.md', '../src/store'), `${address}/tree/HEAD/src/store`)
  for (const href of ['#sqlite', 'https://a.example/b.md', 'mailto:a@b.example', '//a.example'])
    t.equal(target('docs/stores.md', href), href)
  t.equal(target('docs/stores.md', 'missing.md'), 'missing.md', 'the generator reports it')
})

t.test('without an address of the repository, a link to another file is plain text', async (t) => {
  type Rule = Parameters<Parameters<typeof usePageLinks>[0]['core']['ruler']['push']>[1]
  let rule: Rule = () => t.fail('not called')
  const markdown = {
    core: {
      ruler: {
        push(_name: string, given: Rule) {
          rule = given
        },
      },
    },
  }
  usePageLinks(markdown, { root: resolve('.'), pages, address: undefined })
  const token = (type: string, href = '') => {
    const attributes: Record<string, string> = { href }
    return {
      type,
      children: null,
      attrGet: (name: string) => attributes[name] as string,
      attrSet(name: string, value: string) {
        attributes[name] = value
      },
    }
  }
  const children = ['../src/app.ts', '../README.md'].flatMap((href) => [
    token('link_open', href),
    token('text'),
    token('link_close'),
  ])
  const inline = { ...token('inline'), children }
  rule({
    tokens: [token('paragraph_open'), inline],
    env: { realPath: resolve('docs/stores.md'), relativePath: 'docs/stores.md' },
  })
  t.same(
    inline.children.map(({ type, attrGet }) => [type, attrGet('href')].join(' ').trim()),
    ['text', 'link_open ../README.md', 'text', 'link_close'],
  )
})

t.test('the policy of a page allows its inline scripts by their hashes', async (t) => {
  const page =
    '<meta charset="utf-8"><script id="a">a</script><script type="module" src="b.js"></script><script>c</script>'
  const [, policy = ''] = /content="(.*?)"/.exec(withContentPolicy(page)) ?? []
  t.match(policy, /^default-src 'none'; script-src 'self'( 'sha256-[\w+/]{43}='){2}; /)
})

t.test('an anchor is that of GitHub', async (t) => {
  t.equal(headingAnchor('What `npm run a` does: 1.0 & more_of it'), 'what-npm-run-a-does-10--more_of-it')
})
