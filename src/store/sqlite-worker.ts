/** The thread of the SQLite store: opens the file named by workerData, then answers each message with a reply, in order. */
import { parentPort, workerData } from 'node:worker_threads'
import type { CreateOutcome, NewPlant } from './plant-store.ts'
import { openDatabase, type PlantDatabase } from './sqlite-database.ts'

/** A batch to commit, a probe, or the end. */
export type Request = NewPlant[] | 'probe' | 'close'
/** Why nothing was created, and whether it may be otherwise soon. */
type Refusal = { message: string; transient: boolean }
export type Reply = { result: CreateOutcome[] | Refusal; journalBytes: number }

/**
 * A full disk, a quota that is used up, or a lock that a foreign program holds: the transaction was undone. Files that
 * were moved away can come back: to end would have a supervisor start on a new, empty file.
 */
const transient = /^SQLITE_(FULL|BUSY|IOERR_WRITE|IOERR_SHMSIZE|READONLY_DBMOVED)/
/** After these nothing that the file or the disk says can be trusted: a sync that failed once may lie from then on. */
const fatal = /^SQLITE_(IOERR|CORRUPT|NOTADB)/

const port = parentPort as NonNullable<typeof parentPort>
const database = open()

let checkedAt = Number.NEGATIVE_INFINITY

port.on('message', (request: Request) => {
  if (request === 'close') {
    database.close()
    port.close()
    return
  }
  const result = request === 'probe' ? attempt(probe) : attempt(() => database.commit(request))
  port.postMessage({ result, journalBytes: database.journalBytes() } satisfies Reply)
  // A disk that takes the journal and not the file itself would go unnoticed until it is full.
  const now = performance.now()
  if (now - checkedAt < 1_000) return
  checkedAt = now
  attempt(database.checkpoint)
})
port.postMessage('open')

/** The driver's errors lose their message between threads, so what ends this one is thrown as an Error of Node's. */
function open(): PlantDatabase {
  try {
    return openDatabase(workerData)
  } catch (error) {
    throw new Error((error as Error).message)
  }
}

function probe(): [] {
  database.probe()
  return []
}

function attempt<Result>(run: () => Result): Result | Refusal {
  try {
    return run()
  } catch (error) {
    const { message, code = '' } = error as Error & { code?: string }
    if (transient.test(code)) return { message, transient: true }
    if (fatal.test(code)) throw new Error(message)
    return { message, transient: false }
  }
}
