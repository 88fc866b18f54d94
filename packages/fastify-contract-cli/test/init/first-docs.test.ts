import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { run as generate } from '../../src/cli/generate.ts'
import { run } from '../../src/cli/init.ts'
import { writeStaleDocs } from '../../src/docs/docs-page.ts'
import { compileContract } from '../../src/emit/compile.ts'
import { writeFirstDocs } from '../../src/init/first-docs.ts'
import { noConfiguration } from '../../src/redocly/redocly.ts'
import { enterDirectory } from '../support/enter-directory.ts'

const document = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Pets of the first day', version: '1.0.0' },
  paths: { '/pets': { get: { operationId: 'listPets', responses: { 204: { description: 'None.' } } } } },
})

t.test('a new project has the page that its command docs writes, and generate keeps it up to date', async (t) => {
  enterDirectory(t, { 'pets.json': document })
  const printed = t.capture(console, 'log')
  await run(['pets.json', 'pets'])
  t.match(printed()[0]?.args[0], /^Wrote to .*, generated\/.*, dist\/$/m)
  process.chdir('pets')
  const page = join('dist', 'docs', 'index.html')
  t.match(readFileSync(page, 'utf8'), 'Pets of the first day')
  const { ino } = statSync(page)
  await writeStaleDocs(join('dist', 'docs'))
  t.equal(statSync(page).ino, ino)
  t.match(readFileSync('README.md', 'utf8'), '| writes `dist/docs`, which the service shows at ')
  writeFileSync('pets.json', document.replace('first', 'second'))
  await generate([])
  t.match(readFileSync(page, 'utf8'), 'Pets of the second day')
})

t.test('init runs no plugin for the documentation, and lets no error cost the project', async (t) => {
  enterDirectory(t, {
    'plugin.js': "require('fs').writeFileSync('ran', '')\n",
    'redocly.yaml': 'plugins: [./plugin.js]\n',
    'pets.json': document,
  })
  t.match(await writeFirstDocs('none', await compileContract('pets.json', { rules: noConfiguration })), {
    reason: /^[^\n]+$/,
  })
  const printed = t.capture(console, 'log')
  await run(['pets.json'])
  t.match(printed()[0]?.args[0], /^Wrote to .*, dist\/$/m)
  t.notOk(existsSync('ran'))
  t.match(readFileSync(join('dist', 'docs', 'index.html'), 'utf8'), 'Pets of the first day')
})

t.test('a configuration of Redocly where init runs does not apply to the documentation of a new project', async (t) => {
  enterDirectory(t, {
    'pets.json': document,
    'plugin.js': "require('fs').writeFileSync('ran', '')\n",
    'redocly.yaml': 'plugins: [./plugin.js]\n',
  })
  const printed = t.capture(console, 'log')
  await run(['pets.json', 'pets'])
  t.match(printed()[0]?.args[0], /^Wrote to .*, dist\/$/m)
  t.notOk(existsSync('ran'))
  process.chdir('pets')
  const page = join('dist', 'docs', 'index.html')
  const { ino } = statSync(page)
  await writeStaleDocs(join('dist', 'docs'))
  t.equal(statSync(page).ino, ino)
})
