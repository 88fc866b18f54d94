import { parentPort, workerData } from 'node:worker_threads'
import type { PlantBatch } from './sqlite-batch.ts'
import { openDatabase, type PlantDatabase } from './sqlite-database.ts'
import { codeOf } from './sqlite-driver.ts'

/** The worker thread of the SQLite store: opens the file that workerData names, and answers messages in order. */

/** A batch to commit, a query by its name, or a probe of the file. */
export type DatabaseRequest = PlantBatch | { query: string; args: unknown[] } | 'probe'
/** A request to the thread. */
export type WorkerRequest = DatabaseRequest | 'close'
/** Why a request failed without any change, and whether a retry may succeed. */
type Rejection = { message: string; transient: boolean }
/** The result of a request or why it failed, and the size of the write-ahead log in bytes. */
export type WorkerResponse = { result?: unknown; rejection?: Rejection; journalBytes: number }

/**
 * Errors after which the transaction was rolled back and a retry may succeed: a full disk, an exhausted quota, or a
 * lock of another program. Moved files are among them because they can come back; if the process ended, its supervisor
 * would restart it on a new, empty file.
 */
const transient = /^SQLITE_(FULL|BUSY|IOERR_WRITE|IOERR_SHMSIZE|READONLY_DBMOVED)/
/** Errors after which the file and the disk cannot be trusted: after a failed sync, a later one may wrongly succeed. */
const fatal = /^SQLITE_(IOERR|CORRUPT|NOTADB)/

const port = parentPort as NonNullable<typeof parentPort>
const database = open()

// The first requests of a service do not wait for a checkpoint, which syncs the log and the file.
let checkpointedAt = performance.now()

port.on('message', function handle(request: WorkerRequest) {
  if (request === 'close') {
    database.close()
    port.close()
    return
  }
  port.postMessage(attempt(() => answer(request)))
  // Without this checkpoint, a failure to write the database file would go unnoticed until the log fills the disk.
  const now = performance.now()
  if (now - checkpointedAt < 1_000) return
  checkpointedAt = now
  attempt(database.checkpoint)
})
port.postMessage('open')

/** Opens the database. Errors of the driver lose their message between threads, so they are rethrown as an Error. */
function open(): PlantDatabase {
  try {
    return openDatabase(workerData.path)
  } catch (error) {
    throw new Error((error as Error).message)
  }
}

function answer(question: DatabaseRequest): unknown {
  if (question === 'probe') return database.probe()
  return 'json' in question ? database.commit(question) : database.query(question.query, question.args)
}

function attempt(run: () => unknown): WorkerResponse {
  try {
    return { result: run(), journalBytes: database.journalBytes() }
  } catch (error) {
    const { message } = error as Error
    const code = codeOf(error)
    if (fatal.test(code) && !transient.test(code)) throw new Error(message)
    return { rejection: { message, transient: transient.test(code) }, journalBytes: database.journalBytes() }
  }
}
