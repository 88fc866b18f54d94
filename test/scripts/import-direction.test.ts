import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

t.test('scripts and src import nothing from test', async (t) => {
  for (const folder of ['scripts', 'src']) {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    for (const file of files.filter((file) => /^(?!benchmark\/peers\/).*\.[jt]s$/.test(file))) {
      t.notMatch(readFileSync(join(folder, file), 'utf8'), /(from |import\()'(\.\.\/)+test\//, join(folder, file))
    }
  }
})
