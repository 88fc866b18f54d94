import { cp, mkdir, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { bundle } from '../build/bundle.ts'
import { writeTryPage } from '../docs/docs-page.ts'
import { contractFiles } from '../generate/contract-files.ts'
import { loadErrorBody } from '../generate/load-error-body.ts'
import { updateGenerated } from '../generate/update-generated.ts'
import { printWarnings } from '../generate/warnings.ts'
import { typeChecker } from './type-check.ts'

/*
 * A process of npm run dev: to check types takes seconds, in which connections must not wait. It takes a directory for each
 * snapshot of the service, and whether the document has changed; it answers with the error, if any.
 */

// A terminal sends it to each process; npm run dev ends this one.
process.on('SIGINT', () => {})

const checkTypes = typeChecker('src/server.ts')
let isGenerated = false

process.on('message', async ({ directory, ofDocument }: { directory: string; ofDocument: boolean }) => {
  const error = await takeSnapshot(directory, ofDocument).then(
    () => undefined,
    ({ message }: Error) => message,
  )
  process.send?.({ error })
})

/** Generates, checks and bundles the service as it is now. */
async function takeSnapshot(directory: string, ofDocument: boolean): Promise<void> {
  if (ofDocument) isGenerated = false
  if (!isGenerated) await generate()
  isGenerated = true
  checkTypes()
  await bundle(join(directory, 'dist'))
  await mkdir(join(directory, 'generated'), { recursive: true })
  for (const name of ['openapi.json', 'routes.json']) {
    await cp(join('generated', name), join(directory, 'generated', name))
  }
  await mkdir(join('dist', 'docs'), { recursive: true })
  await symlink(resolve('dist', 'docs'), join(directory, 'dist', 'docs'), 'junction')
}

async function generate(): Promise<void> {
  const path = 'openapi/plant-store.yaml'
  const files = await contractFiles(path, 'redocly.yaml', await loadErrorBody())
  printWarnings(files, path)
  const written = await updateGenerated(files, 'generated')
  if (written.length > 0) console.log(`dev: wrote ${written.join(', ')}`)
  await writeTryPage(join('dist', 'docs'))
}
