import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { run } from '../support/process.ts'

t.test('lint runs every linter whatever they find, and --fix formats the code', async (t) => {
  const directory = t.testdir({})
  for (const [name, code] of Object.entries({ redocly: 1, biome: 0, tsc: 0 })) {
    writeFileSync(join(directory, name), `#!/bin/sh\necho ${name} "$@"\nexit ${code}\n`)
    chmodSync(join(directory, name), 0o755)
  }
  const environment = { PATH: `${directory}:${process.env.PATH}` }
  const lint = (...args: string[]) => run(t, 'scripts/lint.ts', environment, args).untilEnded()
  t.match(await lint(), { code: 1, stdout: 'redocly lint\nbiome ci --error-on-warnings .\ntsc\n' })
  t.match(await lint('--fix'), { code: 1, stdout: 'redocly lint\nbiome check --write --error-on-warnings .\ntsc\n' })
  writeFileSync(join(directory, 'redocly'), '#!/bin/sh\n')
  t.match(await lint(), { code: 0 })
  t.match(JSON.parse(readFileSync('package.json', 'utf8')).scripts.format, /^biome check --write /)
})
