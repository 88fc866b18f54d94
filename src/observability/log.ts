import { type DestinationStream, destination, type Logger, type LoggerOptions, pino, symbols } from 'pino'
import type { RequestContext } from '../http/request-context.ts'

/** Bytes of whole lines that are written at once, and milliseconds for which they wait at most: a write has its price. */
const piece = 16_384
const latest = 100

/** Bytes that a pipe of Linux takes in one piece, whoever else writes to it (pipe(7)). */
const sharedPiece = 4_096

/** Bytes that may wait for whoever reads the log; lines beyond are dropped, the service goes on. */
const waiting = 2 ** 24

type LogOptions = { level: string; format: string; isShared: boolean }

type Cause = { type: string; code?: unknown; message: string; stack?: string | undefined; cause?: Cause }

/** The rest of an error may hold what a client sent: PostgreSQL's, for one, quotes the row. */
const cause = (error: unknown): Cause => {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) }
  const { name: type, code, message, stack, cause: below } = error as Error & { code?: unknown }
  return { type, code, message, stack, ...(below !== undefined && { cause: cause(below) }) }
}

const options: LoggerOptions = {
  // The platform knows the process and the host.
  base: null,
  formatters: { level: (level) => ({ level }) },
  serializers: { err: cause },
}

/**
 * Takes the lowest level to be written, a format (`json`, `pretty`, or `auto` for the one that suits stdout) and whether
 * other processes write to the same stdout; gives the log: a line of JSON an event, or what people read on a terminal.
 */
export async function createLog({ level, format, isShared }: LogOptions): Promise<Logger> {
  const isPretty = format === 'pretty' || (format === 'auto' && process.stdout.isTTY === true)
  return pino({ ...options, level }, isPretty ? await prettyStdout() : stdout(isShared))
}

/** A full disk does not end the service: what waits is tried again with each further line. */
function stdout(isShared: boolean): DestinationStream {
  const maxWrite = isShared ? sharedPiece : piece
  const stream = destination({
    sync: false,
    minLength: maxWrite - 1,
    maxWrite,
    periodicFlush: latest,
    maxLength: waiting,
  })
  const flush = stream.flushSync.bind(stream)
  let isBroken = false
  stream
    .on('write', () => {
      isBroken = false
    })
    .on('error', ({ message }) => {
      if (!isBroken) process.stderr.write(`plant-store: the log cannot be written: ${message}\n`)
      isBroken = true
    })
  // At the end of the process it would be tried for ever.
  stream.flushSync = () => {
    if (!isBroken) flush()
  }
  return stream
}

async function prettyStdout(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty')
  return pretty({ colorize: process.stdout.isTTY === true, sync: true, translateTime: 'SYS:HH:MM:ss.l' })
}

/**
 * Returns what writes one line for each request to a log: who asked for what, and how it was answered. The line is
 * put together here, in half of pino's time: it is the one that is written for each request.
 */
export function requestLog(log: Logger): (context: RequestContext) => void {
  const stream = (log as unknown as { [symbol: symbol]: DestinationStream })[symbols.streamSym] as DestinationStream
  return (context) => {
    const { status } = context
    const level = status < 400 ? 'info' : status === 500 ? 'error' : 'warn'
    if (log.isLevelEnabled(level)) stream.write(requestLine(level, context))
  }
}

function requestLine(level: string, context: RequestContext): string {
  const { id, trace, client, address, method, operation, status, error, duration } = context
  const traced = trace && `,"trace_id":"${trace.traceId}","parent_id":"${trace.parentId}"`
  const who = member('client', client?.name) + member('address', address)
  const what = `,"method":"${method}"${member('operation', operation)}`
  const how = `,"status":${status}${member('error', error)},"duration_ms":${Math.round(duration * 1_000) / 1_000}`
  return `{"level":"${level}","time":${Date.now()},"request_id":"${id}"${traced ?? ''}${who}${what}${how},"msg":"request"}\n`
}

const member = (name: string, value: string | number | undefined): string =>
  value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`
