import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import type { RequestContext } from '../http/request-context.ts'
import { type LogOutput, openLogOutput } from './log-output.ts'

type LogOptions = { level: string; format: string; isShared: boolean }

/** Events go to `log`, each request to `logRequest`. */
type Log = { log: Logger; logRequest: (context: RequestContext) => void }

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
 * Creates the log: from the lowest level on a line of JSON for each event, or lines for people. Format `auto` takes the one
 * that suits stdout; `isShared` says whether other processes write there too.
 */
export async function createLog({ level, format, isShared }: LogOptions): Promise<Log> {
  const isPretty = format === 'pretty' || (format === 'auto' && process.stdout.isTTY === true)
  const stdout = openLogOutput(isShared)
  const output = isPretty ? await forPeople(stdout) : stdout
  const log = pino({ ...options, level }, output)
  return { log, logRequest: requestLog(log, output) }
}

async function forPeople(output: LogOutput): Promise<LogOutput> {
  // In the bundle a CommonJS package has its default export only.
  const { default: pretty } = await import('pino-pretty')
  const format = pretty.prettyFactory({
    colorize: process.stdout.isTTY === true,
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
  })
  return { write: (line) => output.write(format(line)), flush: (done) => output.flush(done) }
}

/**
 * Returns what writes one line for each request to a log's output: who asked for what, and how it was answered. The line is
 * put together here, in half of pino's time: it is the one that is written for each request.
 */
export const requestLog = (log: Logger, output: DestinationStream) => (context: RequestContext) => {
  const { status } = context
  const level = status < 400 ? 'info' : status === 500 ? 'error' : 'warn'
  if (log.isLevelEnabled(level)) output.write(requestLine(level, context))
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
