import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { run } from '../support/child-process.ts'

t.test('lint runs every check whatever they find, and --fix formats the code', async (t) => {
  const directory = t.testdir({ 'README.md': '# A\n' })
  for (const [name, code] of Object.entries({ redocly: 1, biome: 0, tsc: 0, cspell: 0 })) {
    writeFileSync(join(directory, name), `#!/bin/sh\necho ${name} "$@"\nexit ${code}\n`)
    chmodSync(join(directory, name), 0o755)
  }
  const environment = { PATH: `${directory}:${process.env.PATH}` }
  const lint = (...args: string[]) => run(t, resolve('scripts/lint.ts'), environment, args, directory).untilEnded()
  const others = 'tsc\ncspell --config scripts/lint/cspell.yaml --no-progress --no-summary\n'
  t.match(await lint(), { code: 1, stdout: `redocly lint\nbiome ci --error-on-warnings .\n${others}`, stderr: /^$/ })
  t.match(await lint('--fix'), {
    code: 1,
    stdout: `redocly lint\nbiome check --write --error-on-warnings .\n${others}`,
  })
  writeFileSync(join(directory, 'redocly'), '#!/bin/sh\n')
  t.match(await lint(), { code: 0 })
  t.match(JSON.parse(readFileSync('package.json', 'utf8')).scripts.format, /^biome check --write /)

  writeFileSync(join(directory, 'README.md'), '[a](missing.md)\n')
  t.match(await lint(), { code: 1, stderr: 'README.md: missing.md leads to no file; correct the link\n' })
  writeFileSync(join(directory, 'README.md'), '# A\n')
  writeFileSync(join(directory, 'cspell'), '#!/bin/sh\nexit 1\n')
  t.match(await lint(), { code: 1 })
})
