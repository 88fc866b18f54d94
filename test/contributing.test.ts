import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'

const text = readFileSync('CONTRIBUTING.md', 'utf8')
const anchors = Array.from(readFileSync('README.md', 'utf8').matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
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
