import { compileDocument } from '../../packages/fastify-contract/src/compile/compile.ts'
import { normalizedDocument } from '../../packages/fastify-contract/src/compile/document/normalize.ts'
import type { Document } from '../../packages/fastify-contract/src/compile/document/openapi-document.ts'
import { contractTypes } from '../../packages/fastify-contract/src/compile/emit/contract-types.ts'
import { documentShapes } from './document-shapes.ts'
import { median } from './statistics.ts'
import { table } from './text-table.ts'

const counts = [100, 1000, 10_000]

/**
 * Prints the CPU that documents of 100, 1,000 and 10,000 schemas take: that of the generator itself, and that of
 * openapi-typescript, which writes the types.
 */
export async function printGenerationTimes(rounds: number): Promise<void> {
  const lines: string[][] = []
  for (const [shape, documentOf] of Object.entries(documentShapes)) {
    const steps: [name: string, run: (document: Document) => Promise<unknown>][] = [
      ['generator', (document) => compileDocument(document, 'openapi.yaml', undefined, async () => '')],
      ['openapi-typescript', (document) => contractTypes(document)],
    ]
    for (const [name, run] of steps) {
      const times: (number | undefined)[] = []
      for (const count of counts) times.push(await medianTime(rounds, normalizedDocument(documentOf(count)), run))
      const ratios = counts.slice(1).map((_, index) => ratioOf(times[index + 1], times[index]))
      lines.push([shape, name, ...times.map((time) => time?.toFixed(0) ?? 'too deep'), ...ratios])
    }
  }
  console.log(table([['CPU in ms', '', ...counts.map(String), '1,000 to 100', '10,000 to 1,000'], ...lines]))
}

/** Returns the median of milliseconds of CPU, after a first run that compiles the code; undefined if a run fails. */
async function medianTime(
  rounds: number,
  document: Document,
  run: (document: Document) => Promise<unknown>,
): Promise<number | undefined> {
  const times: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const start = process.cpuUsage()
    try {
      await run(document)
    } catch (error) {
      if (String(error).includes('Maximum call stack')) return undefined
      throw error
    }
    const { user, system } = process.cpuUsage(start)
    if (round > 0) times.push((user + system) / 1000)
  }
  return median(times)
}

const ratioOf = (time?: number, base?: number): string =>
  time === undefined || base === undefined ? '' : (time / base).toFixed(1)
