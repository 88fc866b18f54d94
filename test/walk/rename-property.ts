import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Files in which the property has its name on the wire: the document, the example request and tests of responses. */
const files = [
  'openapi/plant-store.yaml',
  'src/server.ts',
  'test/handlers.test.ts',
  'test/get-plant.test.ts',
  'test/list-plants.test.ts',
  'test/contract/raw-json.test.ts',
  'test/contract/property/generated-requests.test.ts',
]

/** Files about the store, in which only JSON text uses the name on the wire. */
const filesWithJson = ['src/cli/plants.ts', 'test/cli/plants.test.ts']

/** Renames a property in the document and in all files above. Throws when a file does not contain the property. */
export function renameProperty(directory: string, from: string, to: string): void {
  // Between single quotes it is a property of stored plants, which keeps its name.
  for (const file of files) edit(join(directory, file), new RegExp(`(?<!')\\b${from}\\b(?!')`, 'g'), to)
  for (const file of filesWithJson) edit(join(directory, file), new RegExp(`"${from}"`, 'g'), `"${to}"`)
}

function edit(path: string, found: RegExp, text: string): void {
  const before = readFileSync(path, 'utf8')
  const after = before.replaceAll(found, text)
  if (after === before) throw new Error(`${path} does not contain ${found}; adapt the lists of files`)
  writeFileSync(path, after)
}
