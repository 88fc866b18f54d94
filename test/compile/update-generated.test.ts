import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { compileDocument } from '../../packages/fastify-contract/src/compile/compile.ts'
import type { Document } from '../../packages/fastify-contract/src/compile/document/openapi-document.ts'
import { updateGenerated } from '../../packages/fastify-contract/src/compile/emit/handler-stubs.ts'
import type { Routes } from '../../packages/fastify-contract/src/serve/contract.ts'

const document: Document = {
  openapi: '3.1.0',
  info: { title: 'Test', version: '1' },
  paths: { '/a': { get: { operationId: 'getA', responses: { 204: { description: 'Done.' } } } } },
}

t.test('new handlers are printed once, and a foreign file is reported', async (t) => {
  const directory = join(t.testdir({}), 'generated')
  const printed = t.capture(console, 'log')
  const warned = t.capture(console, 'warn')
  const compiled = await compileDocument(document, 'a.yaml')
  t.equal((await updateGenerated(compiled, directory, 'src/handlers.ts')).length, Object.keys(compiled.files).length)
  t.match(printed(), [{ args: [/^new, for src\/handlers\.ts:\n\n {2}\/\/ GET \/a\n {2}async getA\(\)/] }])
  t.same(warned(), [])
  const surplus = join(directory, 'old.ts')
  writeFileSync(surplus, '')
  t.same(await updateGenerated(compiled, directory, 'src/handlers.ts'), [])
  t.same(printed(), [])
  t.match(warned(), [{ args: [`these files are not generated from the document; remove them: ${surplus}`] }])
  t.equal(readFileSync(join(directory, 'openapi.json'), 'utf8'), compiled.files['openapi.json'])
})

t.test('without a module of handlers, none is named', async (t) => {
  const printed = t.capture(console, 'log')
  await updateGenerated(await compileDocument(document, 'a.yaml'), join(t.testdir({}), 'generated'), 'src/none.ts')
  t.match(printed(), [{ args: [/^new handlers:\n\n {2}\/\/ GET \/a\n/] }])
})

t.test('nothing is written when handlers cannot be made, so that the next run prints them', async (t) => {
  const directory = join(t.testdir({}), 'generated')
  const compiled = await compileDocument(document, 'a.yaml')
  await t.rejects(updateGenerated({ ...compiled, routes: {} as Routes }, directory, 'src/handlers.ts'))
  t.notOk(existsSync(directory))
})
