/** The interval in milliseconds at which a timer shows that the event loop runs. */
const interval = 5

/**
 * Returns the result of `work`, and the longest time in milliseconds for which it kept the event loop from running a
 * timer. Blocking that ends with the work itself counts, too.
 */
export async function withGap<Result>(work: () => Promise<Result>): Promise<{ result: Result; gap: number }> {
  let last = performance.now()
  let gap = 0
  const timer = setInterval(measure, interval)
  try {
    const result = await work()
    measure()
    return { result, gap }
  } finally {
    clearInterval(timer)
  }

  function measure(): void {
    const now = performance.now()
    gap = Math.max(gap, now - last)
    last = now
  }
}
