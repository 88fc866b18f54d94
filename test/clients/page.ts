import { writeFigures } from '../../scripts/benchmark/report.ts'
import { choiceTable, sentByAll } from './choices.ts'
import { featureTable, versionTable } from './table.ts'
import type { Verdicts } from './verdicts.ts'

export const page = 'packages/fastify-contract-cli/docs/clients.md'

/** Returns the parts of the page that are made from the verdicts, by their names. */
export const partsOf = (verdicts: Verdicts): Record<string, string> => ({
  'the clients': versionTable(verdicts),
  'the features': featureTable(verdicts),
  'what all clients send': sentByAll(verdicts),
  'the choices': choiceTable(verdicts),
})

/** Writes the parts of the page. */
export async function writePage(verdicts: Verdicts): Promise<void> {
  for (const [part, text] of Object.entries(partsOf(verdicts))) await writeFigures(page, part, text)
}
