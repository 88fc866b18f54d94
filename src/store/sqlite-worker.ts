/** The thread of the SQLite store: opens the file that workerData names, then answers each message with a reply, in order. */
import { parentPort, workerData } from 'node:worker_threads'
import type { StoredPlant } from './plant-store.ts'
import { openDatabase, type PlantDatabase } from './sqlite-database.ts'
import { openRehearsal } from './sqlite-rehearsal.ts'

/** A batch to commit, or a query by its name. */
type Work = StoredPlant[] | { query: string; args: unknown[] }
/** Work on the file, the same on a database in memory, or a probe of the file. */
export type DatabaseQuestion = Work | { rehearsed: Work } | 'probe'
export type Request = DatabaseQuestion | 'close'
/** Why nothing was done, and whether it may be otherwise soon. */
type Refusal = { message: string; transient: boolean }
export type Reply = { result?: unknown; refusal?: Refusal; journalBytes: number }

/**
 * A full disk, a quota that is used up, or a lock that a foreign program holds: the transaction was undone. Files that
 * were moved away can come back: to end would have a supervisor start on a new, empty file.
 */
const transient = /^SQLITE_(FULL|BUSY|IOERR_WRITE|IOERR_SHMSIZE|READONLY_DBMOVED)/
/** After these nothing that the file or the disk says can be trusted: a sync that failed once may lie from then on. */
const fatal = /^SQLITE_(IOERR|CORRUPT|NOTADB)/

const port = parentPort as NonNullable<typeof parentPort>
const database = open()
let rehearsal: ReturnType<typeof openRehearsal> | undefined

let checkedAt = Number.NEGATIVE_INFINITY

port.on('message', (request: Request) => {
  if (request === 'close') {
    database.close()
    port.close()
    return
  }
  port.postMessage(attempt(() => answer(request)))
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
    return openDatabase(workerData.path, workerData.beside)
  } catch (error) {
    throw new Error((error as Error).message)
  }
}

function answer(question: DatabaseQuestion): unknown {
  if (question === 'probe') return database.probe()
  if (!('rehearsed' in question)) return work(database, question)
  rehearsal ??= openRehearsal()
  return work(rehearsal, question.rehearsed)
}

const work = ({ commit, query }: Pick<PlantDatabase, 'commit' | 'query'>, asked: Work): unknown =>
  Array.isArray(asked) ? commit(asked) : query(asked.query, asked.args)

function attempt(run: () => unknown): Reply {
  try {
    return { result: run(), journalBytes: database.journalBytes() }
  } catch (error) {
    const { message, code = '' } = error as Error & { code?: string }
    if (fatal.test(code) && !transient.test(code)) throw new Error(message)
    return { refusal: { message, transient: transient.test(code) }, journalBytes: database.journalBytes() }
  }
}
