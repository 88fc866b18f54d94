import t from 'tap'
import { compileDocument } from '../../packages/fastify-contract/src/compile/compile.ts'
import type { Document } from '../../packages/fastify-contract/src/compile/document/openapi-document.ts'
import { documentShapes } from '../../scripts/benchmark/document-shapes.ts'

const path = 'openapi.yaml'
const shaped = (shape: string, count: number): Document => documentShapes[shape]?.(count) as Document

async function compiledSchemas(document: Document): Promise<number> {
  const { files } = await compileDocument(document, path)
  return Object.keys(JSON.parse(files['routes.json'] as string).schemas).length
}

for (const shape of ['chain of allOf', 'ring of references']) {
  // Quadratic time took 14 to more than 40 seconds for 1,000 schemas.
  t.test(`a ${shape} with 1,500 schemas compiles within seconds of CPU and does not overflow the stack`, async (t) => {
    const start = process.cpuUsage()
    t.equal(await compiledSchemas(shaped(shape, 1500)), 1500)
    const { user, system } = process.cpuUsage(start)
    t.ok((user + system) / 1e6 < 15, `took ${(user + system) / 1e6} s`)
  })
}

t.test('a document whose schemas are nested too deeply is rejected with a fix', async (t) => {
  const lists = `${'{"type":"array","items":'.repeat(3000)}true${'}'.repeat(3000)}`
  const responses = { 200: { description: 'ok', content: { 'application/json': { schema: JSON.parse(lists) } } } }
  const info = { title: 'Deep', version: '1' }
  const document = { openapi: '3.1.0', info, paths: { '/a': { get: { operationId: 'a', responses } } } }
  await t.rejects(compileDocument(document as unknown as Document, path), {
    message: /openapi\.yaml cannot be served as written:\n {2}#: schemas are nested, .*; shorten the chain/,
  })
})
