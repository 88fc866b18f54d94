import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const text = readFileSync('SECURITY.md', 'utf8')

/** The rows of the tables: the requirement, what the service does, and the file and the title of the test. */
const rows = Array.from(
  text.matchAll(/^\| (API\d+ |\d+\.\d+\.\d+)(.*?) \| (.*) \| (.*?)\|$/gm),
  ([, id, , done, test]) => ({
    id: String(id).trim(),
    done: String(done),
    test: String(test).trim(),
  }),
)

t.test('every row names an existing test or the reason for none', async (t) => {
  for (const { id, done, test } of rows) {
    if (test === '') {
      t.match(done, /^not applicable|\*\*not met\*\*|the operator's|none is promised/, id)
      continue
    }
    const [, file = '', name = ''] = /^`([^`]+)` (.+)$/.exec(test) ?? []
    // The conformance suite of the stores is in src, because it is part of the package.
    const folders = ['test', 'packages/fastify-contract/test', 'src']
    const path = folders.map((folder) => join(folder, file)).find((path) => file !== '' && existsSync(path))
    if (!t.ok(path, `${id}: ${test}`) || path === undefined) continue
    const source = readFileSync(path, 'utf8')
    t.ok(source.includes(`'${name}'`) || new RegExp(`\\b${name}\\b[,:]`).test(source), `${id}: ${file} has "${name}"`)
  }
})

t.test('all ten risks are listed, and no requirement twice', async (t) => {
  const ids = rows.map(({ id }) => id)
  t.same(
    ids.filter((id) => id.startsWith('API')),
    Array.from({ length: 10 }, (_, index) => `API${index + 1}`),
  )
  t.equal(new Set(ids).size, ids.length)
  t.equal(ids.length, Array.from(text.matchAll(/^\| /gm)).length - 2, 'the pattern matches each row')
})
