/** The timeout of a probe in milliseconds. */
const timeout = 2_000

/**
 * Returns a probe that calls `ready`. It resolves with undefined when the service is ready, and otherwise with the
 * reason, which may be that `ready` did not settle within 2,000 ms. Concurrent probes share one call.
 */
export function readiness(ready: () => Promise<void>): () => Promise<string | undefined> {
  let pending: Promise<string | undefined> | undefined
  return () => {
    pending ??= reasonInTime(ready).finally(() => {
      pending = undefined
    })
    return pending
  }
}

function reasonInTime(ready: () => Promise<void>): Promise<string | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timeout, `the store did not respond within ${timeout} ms`)
    ready()
      .then(
        () => resolve(undefined),
        (error: Error) => resolve(error.message),
      )
      .finally(() => clearTimeout(timer))
  })
}
