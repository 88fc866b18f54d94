import { workerData } from 'node:worker_threads'
import { writeStaleDocs, writeTryPage } from '../docs/docs-page.ts'
import { writeIndexPage } from '../docs/index-page.ts'
import type { DevOptions } from './reloader.ts'

/*
 * A thread of the build process that writes the documentation, which takes seconds of a large document. The build of
 * another change begins meanwhile.
 */

const { documents, docs: root, serviceUrls } = workerData as DevOptions & { serviceUrls: string[] }
for (const [index, { docs, out: generated, released, client }] of documents.entries()) {
  // The page calls the port that stays open, not that of one snapshot.
  await writeTryPage(docs, { generated, serviceUrl: serviceUrls[index] })
  await writeStaleDocs(docs, { generated, released, client })
}
const prefixes = documents.filter(({ name }) => name !== undefined).map(({ prefix }) => prefix)
if (prefixes.length > 0) await writeIndexPage(root, prefixes)
