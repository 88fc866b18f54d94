import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Document } from '../../../src/document/openapi-document.ts'
import { readSources } from '../../../src/read/source-files.ts'
import { bundle } from '../../../src/redocly/redocly.ts'
import { directory } from '../../documents/served-documents.ts'

/** Returns one of the documents that the tests serve. Only one in several files is bundled. */
export async function servedDocument(name: string): Promise<Document> {
  const path = `${directory}/${name}/openapi.yaml`
  const sources = await readSources(path)
  const [source] = sources.files.values()
  const hasFiles = readdirSync(dirname(path)).length > 2
  return hasFiles ? await bundle(path, `${directory}/redocly.yaml`, sources) : (source?.value as Document)
}
