/** Milliseconds in which answers may still leave when the store has failed, and lines of the log at the end. */
export const grace = 500

let finish = (done: () => void): void => done()

/** Registers work to be done before the process exits, such as writing the log. */
export function beforeEnd(finishing: (done: () => void) => void): void {
  finish = finishing
}

/** Ends the process with one line and exit code 1: whatever else is open is of no use any more. */
export function end(error: Error): void {
  // Messages of Node and of drivers may have several lines.
  process.stderr.write(`plant-store: ${error.message.trim().replace(/\s*\n\s*/g, '; ')}\n`)
  exit()
}

/** Runs `stop` on the first SIGTERM or SIGINT. A second signal exits at once. */
export function endAtSignals(stop: (signal: NodeJS.Signals) => Promise<void>): void {
  let stopping = false
  const handle = (signal: NodeJS.Signals) => {
    if (stopping) return exit()
    stopping = true
    stop(signal).catch(end)
  }
  process.on('SIGTERM', handle).on('SIGINT', handle)
}

/** Ends the process with exit code 1. */
export function exit(): void {
  // Unless stdout is a terminal, a thread may wait for the reader of the log, and Node for that thread.
  setTimeout(process.stdout.isTTY ? () => process.exit(1) : () => process.kill(process.pid, 'SIGKILL'), grace)
  finish(() => process.exit(1))
}
