import { openAtomicFile } from '../../packages/fastify-contract/src/service/atomic-file.ts'
import type { PlantReader } from '../store/plant-store.ts'
import { formatPlantLine, writeText } from './plant-line.ts'
import { countAll, pagesOf } from './plants-read.ts'
import { withReader } from './plants-store.ts'
import { type PlantsCall, progressBar, type Terminal } from './terminal.ts'

/**
 * Writes all plants to a file, which gets its name when it is complete and synced, or to standard output. Resolves with
 * the exit code.
 */
export async function exportPlants({ operand, storeUrl, terminal }: PlantsCall): Promise<number> {
  const { stdout } = terminal
  return await withReader(storeUrl, async (reader) => {
    if (operand === undefined) {
      await writePlants(reader, terminal, (text) => writeText(stdout, text))
      return 0
    }
    const file = await openAtomicFile(operand)
    try {
      const plants = await writePlants(reader, terminal, file.write)
      await file.finish()
      await writeText(stdout, `${plants} plants are in ${operand}\n`)
    } finally {
      await file.close()
    }
    return 0
  })
}

/** Writes a line for each plant. Resolves with the number of plants. */
async function writePlants(
  reader: PlantReader,
  { stderr, interrupt }: Terminal,
  write: (text: string) => Promise<void>,
): Promise<number> {
  const bar = progressBar(stderr)
  try {
    const total = bar.isShown ? await countAll(reader, interrupt) : 0
    let written = 0
    for await (const page of pagesOf(reader, { interrupt })) {
      await write(page.map(formatPlantLine).join(''))
      written += page.length
      bar.update(written, Math.min(1, written / total))
    }
    return written
  } finally {
    bar.end()
  }
}
