import { cpSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { WalkProject } from './walk-project.ts'

/** Splits the document into one file for each path and component. The root file keeps its name. */
export async function splitDocument({ directory, run }: WalkProject): Promise<void> {
  const document = join('openapi', 'plant-store.yaml')
  const parts = join(directory, 'parts')
  await run(process.execPath, 'node_modules/@redocly/cli/bin/cli.js', 'split', document, '--outDir=parts')
  renameSync(join(parts, 'openapi.yaml'), join(directory, document))
  cpSync(parts, join(directory, 'openapi'), { recursive: true })
  rmSync(parts, { recursive: true })
}
