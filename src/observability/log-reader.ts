/** If lines wait and none is written for this many milliseconds, stderr gets a message. */
const patience = 5_000

/** The problem that stderr reports when stdout is full. */
export const notRead = 'stdout is not read; up to 16 MiB wait for its reader, lines beyond are dropped'

/** Reports on stderr that the log cannot be written, or that its reader has stopped reading. */
export function watchReader() {
  let isTold = false
  let timer: NodeJS.Timeout | undefined
  let reads = 0
  const tell = (problem: string) => {
    if (!isTold) process.stderr.write(`plant-store: the log cannot be written: ${problem}\n`)
    isTold = true
  }
  const look = () => {
    const before = reads
    // If the event loop was blocked, the events of completed writes are still pending, and must be handled first.
    setImmediate(() => {
      if (reads === before) tell(notRead)
    })
  }
  return {
    tell,
    hasTold: () => isTold,
    /** Records that a line waits to be written. */
    waits() {
      timer ??= setTimeout(look, patience).unref()
    },
    /** Records that bytes were written; `isAll` tells whether none wait any more. */
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
