import t from 'tap'
import { compileDocument } from '../../packages/fastify-contract/src/compile/compile.ts'
import type { Document } from '../../packages/fastify-contract/src/compile/document/openapi-document.ts'
import { documentShapes } from '../../scripts/benchmark/document-shapes.ts'

const path = 'openapi.yaml'
const shaped = (shape: string, count: number): Document => documentShapes[shape]?.(count) as Document

/** Runs the generation without openapi-typescript, which overflows the stack with these documents. */
async function compiledSchemas(document: Document): Promise<number> {
  const files = (await compileDocument(document, path, undefined, async () => '')).files
  return Object.keys(JSON.parse(files['routes.json'] as string).schemas).length
}

for (const shape of ['chain of allOf', 'ring of references']) {
  // Quadratic time took 14 to more than 40 seconds for 1,000 schemas, so for 3,000 it would take minutes.
  t.test(`a ${shape} with 3,000 schemas compiles within seconds of CPU and does not overflow the stack`, async (t) => {
    const start = process.cpuUsage()
    t.equal(await compiledSchemas(shaped(shape, 3000)), 3000)
    const { user, system } = process.cpuUsage(start)
    t.ok((user + system) / 1e6 < 20, `took ${(user + system) / 1e6} s`)
  })
}

t.test('a document that is too deep for openapi-typescript is rejected with a fix', async (t) => {
  await t.rejects(compileDocument(shaped('chain of allOf', 2000), path), {
    message: /openapi\.yaml cannot be served as written:\n {2}#: schemas are nested, .*; shorten the chain/,
  })
})
