import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'

const folder = 'docs/decisions'
const index = readFileSync(`${folder}/README.md`, 'utf8')
const pages = readdirSync(folder).filter((name) => name !== 'README.md')

t.test('each decision has a line in the index, under the title of its page', async (t) => {
  t.ok(pages.length > 10)
  for (const name of pages) {
    const [title = ''] = readFileSync(`${folder}/${name}`, 'utf8').split('\n')
    t.match(title, /^# \S/, `${name} begins with a heading`)
    t.ok(index.includes(`\n- [${title.slice(2)}](${name}): `), `${name} is in the index`)
  }
})

t.test('each decision states what was decided, in at most 25 lines', async (t) => {
  for (const name of pages) {
    const text = readFileSync(`${folder}/${name}`, 'utf8')
    t.match(text, /^\*\*Decision\.\*\* /m, `${name} states the decision`)
    t.ok(text.trimEnd().split('\n').length <= 25, `${name} is short`)
  }
})
