import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'

const contributing = readFileSync('CONTRIBUTING.md', 'utf8')
const { scripts, ...manifest } = JSON.parse(readFileSync('package.json', 'utf8'))

t.test('the commands and files that CONTRIBUTING names exist', async (t) => {
  const commands = Array.from(contributing.matchAll(/npm run ([\w:]+)/g), ([, name = '']) => name)
  const files = Array.from(contributing.matchAll(/[`\s]((?:\.?[\w-]+\/)+[\w.-]+\.\w+)/g), ([, path = '']) => path)
  for (const found of [commands, files]) t.ok(found.length > 2)
  for (const name of commands) if (name !== 'NAME') t.ok(Object.hasOwn(scripts, name), name)
  for (const path of files.filter((path) => !path.startsWith('dist/'))) t.ok(existsSync(path), path)
})

t.test('CONTRIBUTING has a row for each command', async (t) => {
  const rows = Array.from(contributing.matchAll(/^\| `npm (?:run )?([\w:]+)/gm), ([, name]) => name)
  const names = Object.keys(scripts).filter((name) => !name.startsWith('pre'))
  for (const name of names) t.ok(rows.includes(name), name)
  t.ok(names.length <= 15, 'npm run reads like a table of contents')
  const [, parts = ''] = /^parts=\((.*)\)$/m.exec(readFileSync('.ci/nightly', 'utf8')) ?? []
  for (const part of parts.split(' ')) t.match(contributing, `| \`.ci/nightly ${part}\` |`)
})

t.test('every dependency has a row in docs/architecture.md', async (t) => {
  const { dependencies, devDependencies, optionalDependencies } = manifest
  const [, table = ''] = /^## Dependencies\n(.*)/ms.exec(readFileSync('docs/architecture.md', 'utf8')) ?? []
  const rows = Array.from(table.matchAll(/^\| ([^|]+) \|/gm), ([, names = '']) => names.split(', ')).flat()
  for (const name of Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }))
    t.ok(rows.includes(name), name)
})
