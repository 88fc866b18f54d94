/** Milliseconds in which pending responses are still sent after a failure, and log lines are written at exit. */
export const grace = 500

let finish = (done: () => void): void => done()

/** Registers the callback that `exit` runs, such as flushing the log; replaces an earlier one. */
export function beforeExit(finishing: (done: () => void) => void): void {
  finish = finishing
}

/**
 * Returns a function that writes an error to stderr as one line, after the name of the service, and ends the process
 * with exit code 1.
 */
export function exitWithError(name: string) {
  return function fail({ message }: Error): void {
    // Messages of Node.js and of database drivers may have several lines.
    process.stderr.write(`${name}: ${message.trim().replace(/\s*\n\s*/g, '; ')}\n`)
    exit()
  }
}

/**
 * Runs `stop` on the first SIGTERM or SIGINT, and `fail` when it rejects. A second signal exits at once. Under npm
 * start, also runs `stop` within a second after the parent process has ended: npm passes SIGTERM to a shell, which
 * ends without passing it on.
 */
export function onShutdownSignal(stop: (signal: NodeJS.Signals) => Promise<void>, fail: (error: Error) => void): void {
  let stopping = false
  const handle = (signal: NodeJS.Signals) => {
    if (stopping) return exit()
    stopping = true
    stop(signal).catch(fail)
  }
  process.on('SIGTERM', handle).on('SIGINT', handle)
  if (process.env.npm_lifecycle_event !== 'start') return
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent && !stopping) handle('SIGTERM')
  }, 1_000).unref()
}

/**
 * Runs the work set by `beforeExit`, then ends the process with exit code 1. If that takes too long, the process ends
 * anyway: by SIGKILL, unless stdout is a terminal.
 */
export function exit(): void {
  // If stdout is a pipe, process.exit() would wait for a thread that is blocked until the log is read.
  const end = () => process.exit(1)
  setTimeout(process.stdout.isTTY ? end : () => process.kill(process.pid, 'SIGKILL'), grace)
  finish(end)
}
