import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { serviceErrors } from 'fastify-contract/contract'
import { compileContract, compileDocument } from 'fastify-contract-cli/compile'
import { handlerStubs } from 'fastify-contract-cli/testing'
import { diagnose } from 'fastify-contract-test-support/compiler'
import t from 'tap'
import { parse } from 'yaml'
import { errorBody } from '../src/error-body.ts'
import { document as contract } from './support/contract.ts'

t.test('the errors of the service match its document', async (t) => {
  const errors = { path: 'src/error-body.ts', errorBody: errorBody as never }
  await t.resolves(compileContract('openapi/plant-store.yaml', { rules: 'redocly.yaml', errors }))
})

t.test('the error table of the document names every error that the service can have', async (t) => {
  const table = (contract as { 'x-error-numbers'?: object })['x-error-numbers'] ?? {}
  t.same(
    Object.keys(serviceErrors).filter((name) => !(name in table)),
    // The plant store evaluates no preconditions, and serves every operation.
    ['preconditionFailed', 'preconditionRequired', 'notImplemented'],
  )
})

const problems = parse(readFileSync('packages/fastify-contract-cli/test/documents/problems/openapi.yaml', 'utf8'))

t.test('the documented example has the media type of problem details', async (t) => {
  const page = readFileSync('packages/fastify-contract/docs/handlers.md', 'utf8')
  const [, example = ''] = /```ts\n([^`]*?export const errorBody: ErrorBody<operations> = .*?)```/s.exec(page) ?? []
  const { 'api.d.ts': types = '' } = (await compileDocument(problems, 'a.yaml')).files
  const typed = example.replace('../generated/api.d.ts', './described.d.ts')
  const modules = { 'src/problems.ts': typed, 'src/misnamed.ts': typed.replace('title:', 'name:') }
  // The example itself has no finding.
  t.match(diagnose(Object.keys(modules), { ...modules, 'src/described.d.ts': types }), [
    /^src\/misnamed\.ts.*('title' is missing|'name' does not exist)/,
  ])
})

t.test(
  'the example patch applies, and README shows the handler that is printed for its operation',
  {
    skip:
      (spawnSync('git', ['--version']).status !== 0 && 'NOT RUN: git is not installed') ||
      (Object.hasOwn(Object(contract.paths), '/plants/{id}') && 'the patch is applied'),
  },
  async (t) => {
    const directory = relative(
      '.',
      t.testdir({ openapi: { 'plant-store.yaml': readFileSync('openapi/plant-store.yaml', 'utf8') } }),
    )
    const apply = (...options: string[]) => execFileSync('git', ['apply', ...options, 'examples/get-plant.patch'])
    apply('--check')
    apply('--include', `${directory}/openapi/*`, '--directory', directory)
    const compiled = await compileDocument(
      parse(readFileSync(join(directory, 'openapi/plant-store.yaml'), 'utf8')),
      'a.yaml',
    )
    const [, shown = ''] =
      /^ {3}new, for src\/handlers\.ts:\n\n(.*?)^ {3}```/ms.exec(readFileSync('README.md', 'utf8')) ?? []
    t.equal(shown.replaceAll(/^ {3}/gm, ''), `${handlerStubs(compiled, contract).join('\n')}\n`)
  },
)
