import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { checks } from '../../../src/contract-test/checks/checks.ts'

t.test('the page lists each check with the summary of the code and a source', async (t) => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/contract-test.md'), 'utf8')
  const [, section = ''] = page.split(/^## Checks$/m)
  const rows = Array.from(section.matchAll(/^\| `([\w-]+)` \| (.*) \| (.+) \|$/gm), ([, name, summary]) => ({
    name,
    summary,
  }))
  t.same(rows, checks)
})
