import { type DestinationStream, destination } from 'pino'
import { notRead, watchReader } from './log-reader.ts'
import { makeNonBlocking } from './nonblocking-terminal.ts'

/** Lines are collected, since each write costs time: up to this many bytes, for at most this many milliseconds. */
const chunkSize = 16_384
const flushInterval = 100

/** Maximum bytes of lines that wait to be written. Further lines are dropped, so that the service can go on. */
const maxPending = 2 ** 24

/** When the process exits, a full pipe is retried for this many milliseconds. */
const exitTimeout = 500

/** The output of the log. `flush` calls back once all lines are written. */
export type LogOutput = DestinationStream & { flush(done?: (error?: Error) => void): void }

/**
 * Opens stdout for the log. Writes never block, and a full disk or a missing reader does not end the service. The first
 * problem is reported on stderr, and the next one only after all lines were written in between.
 */
export const openLogOutput = (stdout = process.stdout): LogOutput =>
  stdout.isTTY === true ? terminal(stdout) : fileOrPipe()

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
      if (stdout.writableLength + text.length > maxPending) return watch.report(notRead)
      watch.pending()
      stdout.write(text, written)
    },
    flush: (done) => void stdout.write('', () => done?.()),
  }
}

function fileOrPipe(): LogOutput {
  let retryUntil = Number.POSITIVE_INFINITY
  const retryEAGAIN = () => performance.now() < retryUntil
  // Writes run in a thread, which may wait for the reader. Each flush retries the bytes of a failed write.
  const stream = destination({
    sync: false,
    contentMode: 'buffer',
    // Writes each chunk at once. With 0, a flush would call back before its write has ended.
    minLength: 1,
    maxWrite: chunkSize,
    periodicFlush: flushInterval,
    maxLength: maxPending,
    retryEAGAIN,
  })
  const watch = watchReader()
  stream
    .on('write', () => watch.written(false))
    .on('drain', () => watch.written(true))
    .on('drop', () => watch.report(notRead))
    .on('error', ({ message }) => watch.report(message))
  const lines = collectLines((bytes) => {
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
    // pino calls this when the process exits. After a failed write, the stream's flushSync would retry forever.
    if (watch.hasReported()) return
    retryUntil = performance.now() + exitTimeout
    // Synchronous, because Node cancels a write that still waits for a thread when the process exits.
    const last = destination({ sync: true, contentMode: 'buffer', retryEAGAIN })
    last.on('error', ({ message }) => watch.report(message))
    try {
      flushSync()
      lines.send((bytes) => last.write(bytes as unknown as string))
    } catch (error) {
      watch.report((error as Error).message)
    }
  }
  return { write: lines.add, flush: (done) => stream.flush(done) }
}

/** Collects whole lines and passes them to `output` in chunks of at most `chunkSize` bytes. A longer line is one chunk. */
function collectLines(output: (bytes: Buffer) => void) {
  const collected = Buffer.allocUnsafeSlow(chunkSize)
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
      if (bytes > chunkSize - length) send()
      if (bytes > chunkSize) output(Buffer.from(line))
      else length += collected.write(line, length)
    },
  }
}
