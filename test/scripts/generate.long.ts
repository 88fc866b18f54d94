import { execFile } from 'node:child_process'
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { compileContract } from '../../packages/fastify-contract-cli/src/emit/compile.ts'
import { checkDocument } from '../../packages/fastify-contract-cli/src/rules/check-document.ts'
import { useHouseDocument } from '../support/house-document.ts'
import { copyProject } from '../support/project-copy.ts'

t.test('committed generated files equal a fresh generation, byte for byte', async (t) => {
  const [first, second] = await Promise.all([1, 2].map(() => compileContract('openapi/plant-store.yaml')))
  t.same(first, second)
  for (const [name, text] of Object.entries(first?.files ?? {}))
    t.equal(readFileSync(join('generated', name), 'utf8'), text, name)
})

t.test('--check lists stale files and writes nothing', async (t) => {
  const cwd = copyProject(t)
  await useHouseDocument(cwd)
  const generate = (...args: string[]) =>
    promisify(execFile)(
      process.execPath,
      ['--import=tsx', 'packages/fastify-contract-cli/src/cli.ts', 'generate', ...args],
      { cwd },
    ).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    )
  t.same(await generate('--check'), { code: 0, stdout: '', stderr: '' })
  const path = join(cwd, 'generated', 'api.d.ts')
  writeFileSync(path, 'stale')
  const stale = 'these files are out of date; run fastify-contract generate: generated/api.d.ts\n'
  t.same(await generate('--check'), { code: 1, stdout: '', stderr: stale })
  t.equal(readFileSync(path, 'utf8'), 'stale')
  t.same(await generate(), { code: 0, stdout: 'wrote generated/api.d.ts\n', stderr: '' })
  t.same(await generate(), { code: 0, stdout: 'up to date\n', stderr: '' })
  const surplus = join(cwd, 'generated', 'left-behind.ts')
  writeFileSync(surplus, '')
  writeFileSync(join(cwd, 'generated', '.hidden'), '')
  writeFileSync(path, 'stale')
  const left = 'these files are not generated from the document; remove them: generated/left-behind.ts\n'
  t.same(await generate('--check'), { code: 1, stdout: '', stderr: stale + left })
  t.same(await generate(), { code: 0, stdout: 'wrote generated/api.d.ts\n', stderr: left })
  rmSync(surplus)
  const problem = "export const errorBody = () => ({ contentType: 'application/problem+json', body: {} })"
  writeFileSync(join(cwd, 'other-errors.ts'), problem)
  t.match(await generate('--check', '--errors', 'other-errors.ts'), {
    code: 1,
    stderr:
      /\/responses\/\w+\/content: errors [\d, ]+ are sent as application\/problem\+json, which is not declared; .* other-errors\.ts/,
  })
  const document = join(cwd, 'openapi', 'plant-store.yaml')
  writeFileSync(
    document,
    readFileSync(document, 'utf8').replace('format: int64', 'format: int64\n              minimum: a'),
  )
  t.match(await generate(), {
    code: 1,
    stderr: /NewPlant\/allOf\/1\/properties\/id\/minimum: must be a number, not "a"/,
  })
})

t.test('a schema that cannot be exact is rejected with its location', async (t) => {
  const int64 = { type: 'integer', format: 'int64' }
  const schemas = {
    'a/b': { ...int64, minimum: -9007199254740992 },
    some: { type: 'array', contains: { $ref: '#/components/schemas/holder' } },
    holder: {
      type: 'object',
      properties: { id: { ...int64, type: ['integer', 'null'] }, up: { $ref: '#/components/schemas/holder' } },
    },
    half: { ...int64, multipleOf: 0.5 },
    fine: { type: 'array', contains: { type: 'integer', format: 'int32', maximum: 9007199254740991 } },
  }
  const problems = checkDocument({ openapi: '3.1.0', components: { schemas } } as never).rejected
  t.match(problems, [/^#\/components\/schemas\/a~1b\/minimum: /, /^#\/components\/schemas\/some\/contains: /])
  t.equal(problems.length, 2)
})

t.test('the document is the given one, openapi.yaml, or the only file in openapi/', async (t) => {
  const cwd = copyProject(t)
  await useHouseDocument(cwd)
  const check = (...args: string[]) =>
    promisify(execFile)(
      process.execPath,
      ['--import=tsx', 'packages/fastify-contract-cli/src/cli.ts', 'generate', '--check', ...args],
      { cwd },
    ).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    )
  const upToDate = { code: 0, stdout: '', stderr: '' }
  cpSync(join(cwd, 'openapi', 'plant-store.yaml'), join(cwd, 'openapi', 'other.yaml'))
  t.same(await check('openapi/plant-store.yaml'), upToDate)
  t.same(await check('--document', 'openapi/plant-store.yaml'), upToDate)
  t.same(await check(), {
    code: 1,
    stdout: '',
    stderr: 'there is neither openapi.yaml nor one openapi/*.yaml; name the document\n',
  })
  renameSync(join(cwd, 'openapi', 'other.yaml'), join(cwd, 'openapi.yaml'))
  t.match(await check(), { code: 1, stderr: /out of date.*generated\/api\.d\.ts/ })
})
