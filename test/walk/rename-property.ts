import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What names the property as the wire does: the document, the request that the service prints, and what pins its echo. */
const files = [
  'openapi/plant-store.yaml',
  'src/process/example-request.ts',
  'test/handlers.test.ts',
  'test/get-plant.test.ts',
  'test/list-plants.test.ts',
  'test/contract/raw-json.test.ts',
  'test/contract/property/service.test.ts',
]

/** What is about the store, where only texts in JSON have the name of the wire. */
const filesWithJson = [
  'src/cli/plants.ts',
  'scripts/benchmark/acceptance.ts',
  'test/cli/plant-line.test.ts',
  'test/cli/plants-postgres.test.ts',
]

/** Renames a property in the document, and wherever a test or a text has its name. Throws where a file has it nowhere. */
export function renameProperty(directory: string, from: string, to: string): void {
  // Between single quotes it is a member of what the store keeps, whose name stays.
  for (const file of files) edit(join(directory, file), new RegExp(`(?<!')\\b${from}\\b(?!')`, 'g'), to)
  for (const file of filesWithJson) edit(join(directory, file), new RegExp(`"${from}"`, 'g'), `"${to}"`)
}

function edit(path: string, found: RegExp, text: string): void {
  const before = readFileSync(path, 'utf8')
  const after = before.replaceAll(found, text)
  if (after === before) throw new Error(`${path} has no ${found}`)
  writeFileSync(path, after)
}
