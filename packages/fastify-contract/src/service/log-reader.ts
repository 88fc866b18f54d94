/** If lines wait and none is written for this many milliseconds, stderr gets a message. */
const stallTime = 5_000

/** The problem that is reported when nothing reads stdout. */
export const notRead = 'stdout is not being read; up to 16 MiB of lines are kept, and further ones are dropped'

/** Reports on stderr that the log cannot be written, or that its reader has stopped reading. */
export function watchReader() {
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
      if (writes === before) report(notRead)
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
