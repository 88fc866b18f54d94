import { type DestinationStream, destination, type Logger, type LoggerOptions, pino } from 'pino'
import type { RequestContext } from '../http/request-context.ts'
import { makeNonBlocking } from './non-blocking-terminal.ts'

type LogOptions = { level: string; format: string }

/** `log` logs events, and `logRequest` logs one request. */
type Log = { log: Logger; logRequest: (context: RequestContext) => void }

type Cause = { type: string; code?: unknown; message: string; stack?: string | undefined; cause?: Cause }

/** Serializes an error. Other members may contain what a client sent: a PostgreSQL error quotes the row. */
const cause = (error: unknown): Cause => {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) }
  const { name: type, code, message, stack, cause: inner } = error as Error & { code?: unknown }
  return { type, code, message, stack, ...(inner !== undefined && { cause: cause(inner) }) }
}

const options: LoggerOptions = {
  // Omits the process id and the host name, which the platform knows.
  base: null,
  formatters: { level: (level) => ({ level }) },
  serializers: { err: cause },
}

/**
 * Creates the log. It writes one line for each event of at least `level`: JSON, or readable text if `format` is
 * `pretty`. The format `auto` means `pretty` on a terminal, otherwise JSON. Problems are reported under the service's
 * name. With `hasApis`, the line of a request names its API.
 */
export async function createLog(name: string, { level, format }: LogOptions, hasApis = false): Promise<Log> {
  const isPretty = format === 'pretty' || (format === 'auto' && process.stdout.isTTY === true)
  const stdout = openLogOutput(name)
  const output = isPretty ? await forPeople(stdout) : stdout
  const log = pino({ ...options, level }, output)
  return { log, logRequest: requestLog(log, output, hasApis ? lineWithApi : requestLine) }
}

async function forPeople(output: LogOutput): Promise<LogOutput> {
  // In the bundled service, a CommonJS package has only a default export.
  const { default: pretty } = await import('pino-pretty')
  const format = pretty.prettyFactory({
    colorize: process.stdout.isTTY === true,
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
  })
  return { write: (line) => output.write(format(line)), flush: (done) => output.flush(done) }
}

/**
 * Returns a function that writes one line for a request to a log's output: the client, the operation, the status and
 * the duration. It builds the line itself, in half of the time that pino takes, because every request gets this line.
 */
function requestLog(log: Logger, output: DestinationStream, lineOf: typeof requestLine) {
  return function logRequest(context: RequestContext): void {
    const { status } = context
    const level = status < 400 ? 'info' : status === 500 ? 'error' : 'warn'
    if (log.isLevelEnabled(level)) output.write(lineOf(level, context))
  }
}

function requestLine(level: string, context: RequestContext): string {
  const { id, trace, client, address, method, operation, status, error, duration } = context
  const traced = trace && `,"trace_id":"${trace.traceId}","parent_id":"${trace.parentId}"`
  const sender = member('client', client?.name) + member('address', address)
  const target = `,"method":"${method}"${member('operation', operation)}`
  const outcome = `,"status":${status}${member('error', error)},"duration_ms":${Math.round(duration * 1_000) / 1_000}`
  return (
    `{"level":"${level}","time":${Date.now()},"request_id":"${id}"${traced ?? ''}` +
    `${sender}${target}${outcome}${endOfLine}`
  )
}

const endOfLine = ',"msg":"request"}\n'

/** Returns the line of a request with its API. */
const lineWithApi = (level: string, context: RequestContext): string =>
  `${requestLine(level, context).slice(0, -endOfLine.length)}${member('api', context.api)}${endOfLine}`

const member = (name: string, value: string | number | undefined): string =>
  value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`

/** Lines are collected, since each write costs time: up to this many bytes, for at most this many milliseconds. */
const chunkSize = 16_384
const flushInterval = 100

/** Maximum bytes of lines that wait to be written. Further lines are dropped, so that the service keeps running. */
const maxPending = 2 ** 24

/** When the process exits, a full pipe is retried for this many milliseconds. */
const exitTimeout = 500

/** The output of the log. `flush` calls back once all lines are written. */
export type LogOutput = DestinationStream & { flush(done?: (error?: Error) => void): void }

/**
 * Opens stdout for the log. Writes never block, and a full disk or a missing reader does not end the service. The first
 * problem is reported on stderr, and the next one only after all lines were written in between.
 */
export const openLogOutput = (name: string, stdout = process.stdout): LogOutput =>
  stdout.isTTY === true ? terminal(stdout, watchReader(name)) : fileOrPipe(watchReader(name))

function terminal(stdout: NodeJS.WriteStream, watch: Watch): LogOutput {
  makeNonBlocking(stdout)
  // The callback of a failed write reports the error. Without this listener, the error would also end the process.
  stdout.on('error', () => {})
  const written = (error?: Error | null) => {
    if (error) watch.report(error)
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

function fileOrPipe(watch: Watch): LogOutput {
  let retryUntil = Number.POSITIVE_INFINITY
  const retryEAGAIN = () => performance.now() < retryUntil
  // Writes run in a thread, which may wait for the reader. Without `periodicFlush`, whose timer would always run.
  const stream = destination({
    sync: false,
    contentMode: 'buffer',
    // Writes each chunk at once. With 0, a flush would call back before its write has ended.
    minLength: 1,
    maxWrite: chunkSize,
    maxLength: maxPending,
    retryEAGAIN,
  })
  stream
    .on('write', () => watch.written(false))
    .on('drain', () => watch.written(true))
    .on('drop', () => watch.report(notRead))
    .on('error', function retryLater(error) {
      watch.report(error)
      hasFailed = true
      flushSoon()
    })
  const lines = collectLines((bytes) => {
    watch.pending()
    // With contentMode "buffer" the stream takes a Buffer, but its types declare a string.
    stream.write(bytes as unknown as string)
  })
  const [flush, flushSync] = [stream.flush.bind(stream), stream.flushSync.bind(stream)]
  let isArmed = false
  let hasFailed = false
  function flushSoon(): void {
    if (isArmed) return
    isArmed = true
    setTimeout(flushWaiting, flushInterval).unref()
  }
  function flushWaiting(): void {
    isArmed = false
    lines.send()
    // A flush retries the bytes of a failed write. Without such bytes it would write none, in a thread.
    if (hasFailed) flush()
    hasFailed = false
  }
  // pino calls this before the process exits.
  stream.flush = (done) => {
    lines.send()
    flush(done)
  }
  stream.flushSync = function flushAtExit() {
    // pino calls this when the process exits. After a failed write, the stream's flushSync would retry forever.
    if (watch.hasReported()) return
    retryUntil = performance.now() + exitTimeout
    // Synchronous, because Node cancels a write that still waits for a thread when the process exits.
    const last = destination({ sync: true, contentMode: 'buffer', retryEAGAIN })
    last.on('error', watch.report)
    try {
      flushSync()
      lines.send((bytes) => last.write(bytes as unknown as string))
    } catch (error) {
      watch.report(error as Error)
    }
  }
  return {
    write(line) {
      lines.add(line)
      flushSoon()
    },
    flush: (done) => stream.flush(done),
  }
}

/**
 * Collects whole lines and passes them to `output` in chunks of at most `chunkSize` bytes. A longer line is one chunk.
 */
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

/** If lines wait and none is written for this many milliseconds, stderr gets a message. */
const stallTime = 5_000

type Watch = ReturnType<typeof watchReader>

/** The problem that is reported when nothing reads stdout. */
const notRead = { message: 'stdout is not being read; up to 16 MiB of lines are kept, and further ones are dropped' }

/** Reports on stderr that the log cannot be written, or that its reader has stopped reading. */
function watchReader(name: string) {
  let isReported = false
  let timer: NodeJS.Timeout | undefined
  let writes = 0
  const report = ({ message }: { message: string }) => {
    if (!isReported) process.stderr.write(`${name}: the log cannot be written: ${message}\n`)
    isReported = true
  }
  // If the event loop was blocked, the events of completed writes are still pending, and must be handled first.
  const check = () => setImmediate(checkAfterEvents, writes)
  const checkAfterEvents = (before: number) => {
    if (writes === before) report(notRead)
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
