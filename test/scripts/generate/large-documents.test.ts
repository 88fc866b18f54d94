import t from 'tap'
import { documentShapes } from '../../../scripts/benchmark/document-shapes.ts'
import { filesOf, normalizedDocument } from '../../../scripts/generate/contract-files.ts'
import { inexactIntegers } from '../../../scripts/generate/inexact-integers.ts'
import { int64Responses } from '../../../scripts/generate/int64-responses.ts'
import type { Document } from '../../../scripts/generate/openapi-document.ts'
import { requestFile } from '../../../scripts/generate/request-file.ts'
import { routesOf } from '../../../scripts/generate/route-schemas.ts'
import { unsatisfiableSchemas } from '../../../scripts/generate/unsatisfiable-schemas.ts'
import { unsupportedFeatures } from '../../../scripts/generate/unsupported-features.ts'
import { printWarnings } from '../../../scripts/generate/warnings.ts'

const shaped = (shape: string, count: number): Document => documentShapes[shape]?.(count) as Document

/** Runs the steps of generation that are this project's own, and returns the names of the shared schemas. */
function compiled(document: Document): string[] {
  t.same([...inexactIntegers(document), ...unsupportedFeatures(document), ...unsatisfiableSchemas(document)], [])
  const normalized = normalizedDocument(document)
  t.same(int64Responses(normalized), { table: { places: [], replies: {} }, problems: [] })
  t.match(requestFile(normalized), /POST/)
  printWarnings({ 'openapi.json': JSON.stringify(document) }, 'openapi.yaml')
  return Object.keys(routesOf(normalized).schemas)
}

function cpuSeconds(since?: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1e6
}

// Quadratic time takes 14 to more than 60 seconds for 1,000 schemas.
for (const shape of ['chain of allOf', 'ring of references']) {
  t.test(`a ${shape} of 1,000 schemas compiles within seconds of CPU`, async (t) => {
    const start = process.cpuUsage()
    t.equal(compiled(shaped(shape, 1000)).length, 1000)
    t.ok(cpuSeconds(start) < 8, `took ${cpuSeconds(start)} s`)
  })

  t.test(`a ${shape} of 10,000 schemas does not overflow the stack`, async (t) => {
    t.equal(compiled(shaped(shape, 10_000)).length, 10_000)
  })
}

t.test('a chain that is too deep for the tools is rejected with the remedy', async (t) => {
  await t.rejects(filesOf(shaped('ring of references', 10_000), 'openapi.yaml'), {
    message: /openapi\.yaml cannot be served as written:\n {2}schemas are nested, .*; shorten the chain/,
  })
})
