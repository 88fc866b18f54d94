import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'

const text = readFileSync('CONTRIBUTING.md', 'utf8')
const readme = readFileSync('README.md', 'utf8')
const anchors = Array.from(readme.matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-'),
)

t.test('the commands, files and sections that CONTRIBUTING.md names are there', async (t) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const commands = Array.from(text.matchAll(/npm run ([\w:]+)/g), ([, name = '']) => name)
  const links = Array.from(text.matchAll(/\]\(README\.md#([^)]+)\)/g), ([, anchor = '']) => anchor)
  const files = Array.from(text.matchAll(/[`\s]((?:\.?[\w-]+\/)+[\w.-]+\.\w+)/g), ([, path = '']) => path)
  for (const found of [commands, links, files]) t.ok(found.length > 2)
  for (const name of commands) t.ok(Object.hasOwn(scripts, name), name)
  for (const anchor of links) t.ok(anchors.includes(anchor), anchor)
  for (const path of files) t.ok(existsSync(path), path)
})

t.test('each dependency has a row in the table of the README', async (t) => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  const table = readme.split('\n## ').find((section) => section.startsWith('What each dependency is for\n')) ?? ''
  const rows = Array.from(table.matchAll(/^\| ([^|]+) \|/gm), ([, names = '']) => names.split(', ')).flat()
  for (const name of Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }))
    t.ok(rows.includes(name), name)
})
