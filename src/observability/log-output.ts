import { type DestinationStream, destination } from 'pino'
import { makeNonBlocking } from './nonblocking-terminal.ts'

/** Lines are collected, since each write costs time: up to this many bytes, for at most this many milliseconds. */
const chunkSize = 16_384
const flushInterval = 100

/** Bytes that Linux writes to a pipe atomically (PIPE_BUF in pipe(7)): lines of several processes do not mix. */
const sharedChunkSize = 4_096

/** Maximum bytes of lines that wait to be written. Further lines are dropped, so that the service can go on. */
const maxPending = 2 ** 24

/** If lines wait and none is written for this many milliseconds, stderr gets a message. */
const stallTime = 5_000

const full = 'stdout is not being read; up to 16 MiB of lines are kept, and further ones are dropped'

/** The output of the log. `flush` calls back once all lines are written. */
export type LogOutput = DestinationStream & { flush(done?: (error?: Error) => void): void }

/**
 * Opens stdout for the log. Writes never block, and a full disk or a missing reader does not end the service. The first
 * problem is reported on stderr, and the next one only after all lines were written in between. `isShared` says
 * whether other processes write to stdout too.
 */
export const openLogOutput = (isShared: boolean, stdout = process.stdout): LogOutput =>
  stdout.isTTY === true ? terminal(stdout) : fileOrPipe(isShared)

function terminal(stdout: NodeJS.WriteStream): LogOutput {
  const watch = watchReader()
  makeNonBlocking(stdout)
  // The callback of a failed write reports the error. Without this listener, the error would also end the process.
  stdout.on('error', () => {})
  const written = (error?: Error | null) => {
    if (error) watch.report(error.message)
    else watch.written(stdout.writableLength === 0)
  }
  return {
    write(text) {
      if (stdout.writableLength + text.length > maxPending) return watch.report(full)
      watch.pending()
      stdout.write(text, written)
    },
    flush: (done) => void stdout.write('', () => done?.()),
  }
}

function fileOrPipe(isShared: boolean): LogOutput {
  const size = isShared ? sharedChunkSize : chunkSize
  // Writes run in a thread, which may wait for the reader. Each flush retries the bytes of a failed write.
  const stream = destination({
    sync: false,
    contentMode: 'buffer',
    // Writes each chunk at once. With 0, a flush would call back before its write has ended.
    minLength: 1,
    maxWrite: size,
    periodicFlush: flushInterval,
    maxLength: maxPending,
  })
  const watch = watchReader()
  stream
    .on('write', () => watch.written(false))
    .on('drain', () => watch.written(true))
    .on('drop', () => watch.report(full))
    .on('error', ({ message }) => watch.report(message))
  const lines = collectLines(size, (bytes) => {
    watch.pending()
    // With contentMode "buffer" the stream takes a Buffer, but its types declare a string.
    stream.write(bytes as unknown as string)
  })
  const [flush, flushSync] = [stream.flush.bind(stream), stream.flushSync.bind(stream)]
  // The stream calls flush every `flushInterval` milliseconds, and pino calls it before the process exits.
  stream.flush = (done) => {
    lines.send()
    flush(done)
  }
  stream.flushSync = () => {
    // Called when the process exits: it would retry a failed write forever.
    if (watch.hasReported()) return
    flushSync()
    // Node cancels a write that still waits for a thread when the process exits.
    const last = destination({ sync: true, contentMode: 'buffer' }).on('error', ({ message }) => watch.report(message))
    lines.send((bytes) => last.write(bytes as unknown as string))
  }
  return { write: lines.add, flush: (done) => stream.flush(done) }
}

/** Collects whole lines and passes them to `output` in chunks of at most `size` bytes. A longer line is one chunk. */
function collectLines(size: number, output: (bytes: Buffer) => void) {
  const collected = Buffer.allocUnsafeSlow(size)
  let length = 0
  const send = (to = output) => {
    if (length === 0) return
    // A separate buffer of this length: a slice would keep the larger buffer in memory while the chunk waits.
    const bytes = Buffer.allocUnsafeSlow(length)
    collected.copy(bytes, 0, 0, length)
    length = 0
    to(bytes)
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

/** Reports on stderr that the log cannot be written, or that its reader has stopped reading. */
function watchReader() {
  let isReported = false
  let timer: NodeJS.Timeout | undefined
  let writes = 0
  const report = (problem: string) => {
    if (!isReported) process.stderr.write(`plant-store: the log cannot be written: ${problem}\n`)
    isReported = true
  }
  const check = () => {
    const before = writes
    // If the event loop was blocked, the events of completed writes are still pending, and must be handled first.
    setImmediate(() => {
      if (writes === before) report(full)
    })
  }
  return {
    report,
    hasReported: () => isReported,
    /** Records that a line waits to be written. */
    pending() {
      timer ??= setTimeout(check, stallTime).unref()
    },
    /** Records that bytes were written; `isAll` says whether no line waits any more. */
    written(isAll: boolean) {
      writes++
      if (!isAll) timer?.refresh()
      else {
        clearTimeout(timer)
        timer = undefined
        isReported = false
      }
    },
  }
}
