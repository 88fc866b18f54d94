import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What names the property as the wire does: the document, the command that the service prints, and what pins its echo. */
const files = [
  'openapi/plant-store.yaml',
  'src/server.ts',
  'test/handlers.test.ts',
  'test/get-plant.test.ts',
  'test/list-plants.test.ts',
  'test/contract/raw-json.test.ts',
  'test/contract/property/service.test.ts',
]

/** Renames a property in the document, and wherever a test or a text has its name. Throws where a file has it nowhere. */
export function renameProperty(directory: string, from: string, to: string): void {
  for (const file of files) {
    const path = join(directory, file)
    const text = readFileSync(path, 'utf8')
    // Between single quotes it is a member of what the store keeps, whose name stays.
    const renamed = text.replaceAll(new RegExp(`(?<!')\\b${from}\\b(?!')`, 'g'), to)
    if (renamed === text) throw new Error(`${path} names no ${from}`)
    writeFileSync(path, renamed)
  }
}
