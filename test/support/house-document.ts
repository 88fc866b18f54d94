import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { compileContract } from '../../packages/fastify-contract-cli/src/emit/compile.ts'
import { writeStale } from '../../packages/fastify-contract-cli/src/emit/generated-files.ts'
import { document } from './contract.ts'

/** Path of a document that obeys redocly.yaml. Tests of the tools use it, so that the contract can change freely. */
export const houseDocument = 'packages/fastify-contract-cli/test/documents/house-rules.yaml'

const handlers = `import { errorNumbers } from '../generated/error-numbers.ts'
import type { Handlers } from '../generated/handler-types.d.ts'
import type { PlantOperations, StoredPlant } from './store/plant-store.ts'

export const toStored = (plant: StoredPlant) => plant

export const handlers = (store: Pick<PlantOperations, 'create'>): Handlers => ({
  async createPlant({ body: { id, name } }) {
    const outcome = await store.create({ id, name })
    if (outcome === 'conflict') return { status: 409, body: { error: errorNumbers.idTaken, message: 'no id' } }
    return { status: 200, body: { name } }
  },
})
`

/** Replaces the contract and handlers of a copied project with the document above, without any released version. */
export async function useHouseDocument(project: string): Promise<void> {
  // Errors in src refer to the contract's error numbers by name.
  const numbers = { 'x-error-numbers': (document as { 'x-error-numbers'?: object })['x-error-numbers'] }
  rmSync(join(project, 'openapi'), { recursive: true })
  mkdirSync(join(project, 'openapi'))
  const path = join(project, 'openapi', 'plant-store.yaml')
  const text = readFileSync(houseDocument, 'utf8')
  writeFileSync(
    path,
    text.replace(/^x-error-numbers:\n(?: {2}.*\n)*/m, () => stringify(numbers)),
  )
  writeFileSync(join(project, 'src', 'handlers.ts'), handlers)
  await writeStale((await compileContract(path)).files, join(project, 'generated'))
}
