import { type DestinationStream, destination } from 'pino'
import { neverWait } from './terminal.ts'

/** Bytes of whole lines that are written at once, and milliseconds for which they wait at most: a write has its price. */
const piece = 16_384
const latest = 100

/** Bytes that a pipe of Linux takes in one piece, whoever else writes to it (pipe(7)). */
const sharedPiece = 4_096

/** Bytes that may wait for whoever reads the log; lines beyond are dropped, the service goes on. */
const waiting = 2 ** 24

/** After so many milliseconds in which the reader takes no byte of waiting lines, stderr gets a message. */
const patience = 5_000

const full = 'stdout is not read; up to 16 MB wait for its reader, lines beyond are dropped'

/** Where the lines of the log go. `flush` calls back once they are written. */
export type LogOutput = DestinationStream & { flush(done?: (error?: Error) => void): void }

/**
 * Opens stdout for the log. Writes never block; a full disk or a missing reader does not end the service. Each problem is
 * reported once on stderr, until all lines are written again. `isShared` says whether other processes write there, too.
 */
export const openLogOutput = (isShared: boolean, stdout = process.stdout): LogOutput =>
  stdout.isTTY === true ? terminal(stdout) : fileOrPipe(isShared)

function terminal(stdout: NodeJS.WriteStream): LogOutput {
  const watch = watchReader()
  neverWait(stdout)
  // The write that has failed says so, too.
  stdout.on('error', () => {})
  const written = (error?: Error | null) => {
    if (error) watch.tell(error.message)
    else watch.taken(stdout.writableLength === 0)
  }
  return {
    write(text) {
      if (stdout.writableLength + text.length > waiting) return watch.tell(full)
      watch.waits()
      stdout.write(text, written)
    },
    flush: (done) => void stdout.write('', () => done?.()),
  }
}

function fileOrPipe(isShared: boolean): LogOutput {
  const maxWrite = isShared ? sharedPiece : piece
  // Written by a thread that may wait for the reader; what an error has left is tried again with each further line.
  const stream = destination({
    sync: false,
    minLength: maxWrite - 1,
    maxWrite,
    periodicFlush: latest,
    maxLength: waiting,
  })
  const watch = watchReader()
  const [write, flush] = [stream.write.bind(stream), stream.flushSync.bind(stream)]
  stream
    .on('write', () => watch.taken(false))
    .on('drain', () => watch.taken(true))
    .on('drop', () => watch.tell(full))
    .on('error', ({ message }) => watch.tell(message))
  stream.write = (text) => {
    watch.waits()
    return write(text)
  }
  // At the end of the process it would be tried for ever.
  stream.flushSync = () => {
    if (!watch.hasTold()) flush()
  }
  return stream
}

/** Reports problems of the log on stderr, also that its reader has stopped reading. */
function watchReader() {
  let isTold = false
  let timer: NodeJS.Timeout | undefined
  let reads = 0
  const tell = (problem: string) => {
    if (!isTold) process.stderr.write(`plant-store: the log cannot be written: ${problem}\n`)
    isTold = true
  }
  const look = () => {
    const before = reads
    // After a late event loop, pending events of writes come first.
    setImmediate(() => {
      if (reads === before) tell(full)
    })
  }
  return {
    tell,
    hasTold: () => isTold,
    /** A line waits. */
    waits() {
      timer ??= setTimeout(look, patience).unref()
    },
    /** Something was taken, or all of it. */
    taken(isAll: boolean) {
      reads++
      if (!isAll) timer?.refresh()
      else {
        clearTimeout(timer)
        timer = undefined
        isTold = false
      }
    },
  }
}
