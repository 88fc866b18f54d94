import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import t from 'tap'

const pages = ['.', 'docs', 'deploy'].flatMap((folder) =>
  readdirSync(folder).flatMap((name) => (name.endsWith('.md') ? [join(folder, name)] : [])),
)

/** Returns the anchors of a Markdown page on GitHub, one for each heading. */
const anchorsOf = (path: string): string[] =>
  Array.from(readFileSync(path, 'utf8').matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )

t.test('each link within the documentation leads to a file and to a heading', async (t) => {
  for (const page of pages) {
    const text = readFileSync(page, 'utf8').replace(/^```.*?^```$/gms, '')
    for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : relative('.', join(dirname(page), path))
      if (!t.ok(existsSync(file), `${page}: ${target}`) || anchor === undefined || statSync(file).isDirectory())
        continue
      t.ok(anchorsOf(file).includes(anchor), `${page}: ${target}`)
    }
  }
})

t.test('each page of docs/ is linked from the README, which stays short', async (t) => {
  const readme = readFileSync('README.md', 'utf8')
  for (const page of pages.filter((page) => page.startsWith('docs/'))) t.ok(readme.includes(`(${page})`), page)
  t.ok(readme.split('\n').length <= 150)
})
