import { type DestinationStream, destination } from 'pino'
import { makeNonBlocking } from './nonblocking-terminal.ts'

/** Bytes of whole lines that are written at once, and milliseconds for which they wait at most: a write has its price. */
const piece = 16_384
const latest = 100

/** Bytes that a pipe of Linux takes in one piece, whoever else writes to it (pipe(7)). */
const sharedPiece = 4_096

/** Bytes that may wait for whoever reads the log; lines beyond are dropped, the service goes on. */
const waiting = 2 ** 24

/** After so many milliseconds in which the reader takes no byte of waiting lines, stderr gets a message. */
const patience = 5_000

const full = 'stdout is not read; up to 16 MiB wait for its reader, lines beyond are dropped'

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
  makeNonBlocking(stdout)
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
  const size = isShared ? sharedPiece : piece
  // A thread writes, which may wait for the reader. Bytes left by a failed write are tried again with each flush.
  const stream = destination({
    sync: false,
    contentMode: 'buffer',
    // Each piece is written at once; 0 would let a flush call back before the write ends.
    minLength: 1,
    maxWrite: size,
    periodicFlush: latest,
    maxLength: waiting,
  })
  const watch = watchReader()
  stream
    .on('write', () => watch.taken(false))
    .on('drain', () => watch.taken(true))
    .on('drop', () => watch.tell(full))
    .on('error', ({ message }) => watch.tell(message))
  const lines = collectLines(size, (bytes) => {
    watch.waits()
    // In this mode the stream takes bytes, which its types do not say.
    stream.write(bytes as unknown as string)
  })
  const [flush, flushSync] = [stream.flush.bind(stream), stream.flushSync.bind(stream)]
  // The stream calls it every `latest` milliseconds, pino before the process ends.
  stream.flush = (done) => {
    lines.send()
    flush(done)
  }
  stream.flushSync = () => {
    // At the end of the process a failed write would be tried for ever.
    if (watch.hasTold()) return
    lines.send()
    flushSync()
  }
  return { write: lines.add, flush: (done) => stream.flush(done) }
}

/** Collects whole lines as bytes and sends them in pieces of at most `size` bytes; only a longer line is a larger piece. */
function collectLines(size: number, output: (bytes: Buffer) => void) {
  const collected = Buffer.allocUnsafeSlow(size)
  let length = 0
  const send = () => {
    if (length === 0) return
    // An exact copy: a part of a larger buffer would keep all of that for as long as the part waits.
    const bytes = Buffer.allocUnsafeSlow(length)
    collected.copy(bytes, 0, 0, length)
    length = 0
    output(bytes)
  }
  return {
    send,
    add(line: string) {
      const bytes = Buffer.byteLength(line)
      if (bytes > size - length) send()
      if (bytes > size) output(Buffer.from(line))
      else length += collected.write(line, length)
    },
  }
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
