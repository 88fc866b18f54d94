import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { groupPlantCommits } from '../group-commit.ts'
import { type CreateOutcome, type PlantQueries, type PlantStore, Unavailable } from '../plant-store.ts'
import { plantBatch } from './sqlite-batch.ts'
import { queriesOf } from './sqlite-queries.ts'
import type { DatabaseRequest, WorkerRequest, WorkerResponse } from './sqlite-worker.ts'

/** Published after each request to the thread: the size of the write-ahead log, in bytes. */
export type JournalMessage = { bytes: number }

const journals = channel('plant-store:sqlite-journal')

/**
 * Opens the SQLite file at `path` in a worker thread, so that commits do not block the event loop. Rejects as
 * `openDatabase` does. When the file or its disk fails, the thread ends and `failure` resolves.
 */
export async function openSqlite(path: string): Promise<PlantStore & PlantQueries> {
  const worker = new Worker(new URL(`./sqlite-worker${extname(import.meta.url)}`, import.meta.url), {
    workerData: { path },
  })
  await once(worker, 'message')
  const send = connect(worker)
  const writes = groupPlantCommits((plants) => send(plantBatch(plants)) as Promise<CreateOutcome[]>)
  const exit = new Promise((resolve) => worker.once('exit', resolve))
  let closing: Promise<unknown> | undefined
  const sendOpen = async (request: DatabaseRequest) => {
    if (closing !== undefined) throw new Error('the store is closed')
    return await send(request)
  }
  return {
    ...queriesOf((query, args) => sendOpen({ query, args })),
    create: writes.submit,
    async ready() {
      await sendOpen('probe')
    },
    async close() {
      closing ??= writes.close().then(() => worker.postMessage('close' satisfies WorkerRequest))
      await closing
      await exit
    },
    failure: new Promise((resolve) => worker.once('error', resolve)),
  }
}

const stopped = 'the SQLite store has stopped after a file or disk error'

/** Returns a function that sends a request to the thread. Replies come in the order of the requests. */
function connect(worker: Worker): (request: DatabaseRequest) => Promise<unknown> {
  type Pending = { resolve(reply: WorkerResponse): void; reject(error: Error): void }
  const pending: Pending[] = []
  let failed = false
  worker.on('message', (reply: WorkerResponse) => pending.shift()?.resolve(reply))
  worker.on('error', () => {
    failed = true
    for (const { reject } of pending.splice(0)) reject(new Unavailable(stopped))
  })
  return async function send(request) {
    if (failed) throw new Unavailable(stopped)
    const { result, rejection, journalBytes } = await new Promise<WorkerResponse>((resolve, reject) => {
      pending.push({ resolve, reject })
      worker.postMessage(request satisfies WorkerRequest)
    })
    if (journals.hasSubscribers) journals.publish({ bytes: journalBytes } satisfies JournalMessage)
    if (rejection === undefined) return result
    throw rejection.transient ? new Unavailable(rejection.message) : new Error(rejection.message)
  }
}
