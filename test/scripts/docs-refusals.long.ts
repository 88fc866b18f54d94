import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { copyProject } from '../support/project-copy.ts'

t.test('an invalid document gives no page', async (t) => {
  const cwd = copyProject(t)
  const path = join(cwd, 'openapi', 'plant-store.yaml')
  writeFileSync(path, readFileSync(path, 'utf8').replace('type: string', 'type: text'))
  const docs = promisify(execFile)(
    process.execPath,
    ['--import=tsx', 'packages/fastify-contract-cli/src/cli.ts', 'docs'],
    { cwd },
  )
  await t.rejects(docs, { code: 1, stderr: /type: must be one of string, .* not "text"/ })
  t.notOk(existsSync(join(cwd, 'dist')))
})

t.test('a document that does not match generated/ gives no page and leaves the earlier one', async (t) => {
  const cwd = copyProject(t)
  const page = join(cwd, 'dist', 'docs', 'index.html')
  mkdirSync(dirname(page), { recursive: true })
  writeFileSync(page, 'earlier')
  const path = join(cwd, 'openapi', 'plant-store.yaml')
  writeFileSync(path, readFileSync(path, 'utf8').replace('A store of plants.', 'A store of all plants.'))
  const docs = promisify(execFile)(
    process.execPath,
    ['--import=tsx', 'packages/fastify-contract-cli/src/cli.ts', 'docs'],
    { cwd },
  )
  await t.rejects(docs, {
    code: 1,
    stdout: '',
    stderr:
      'these files are out of date; run fastify-contract generate: generated/contract.mjs, generated/openapi.json\n',
  })
  t.equal(readFileSync(page, 'utf8'), 'earlier')
  t.same(readdirSync(dirname(page)), ['index.html'])
})
