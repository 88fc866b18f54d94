import { workerData } from 'node:worker_threads'
import { writeStaleDocs, writeTryPage } from '../docs/docs-page.ts'
import type { DevOptions } from './reloader.ts'

/*
 * A thread of the build process that writes the documentation, which takes seconds of a large document. The build of
 * another change begins meanwhile.
 */

const { docs, out: generated, client, serviceUrl } = workerData as DevOptions & { serviceUrl: string }
// The page calls the port that stays open, not that of one snapshot.
await writeTryPage(docs, { generated, serviceUrl })
await writeStaleDocs(docs, { generated, client })
