/** The timeout of a probe in milliseconds. */
const limit = 2_000

/**
 * Returns a probe that calls `ready`. It resolves with undefined when the service is ready, and otherwise with the
 * reason. Without an answer within 2,000 ms, that is the reason. Concurrent probes share one call.
 */
export function readiness(ready: () => Promise<void>): () => Promise<string | undefined> {
  let asked: Promise<string | undefined> | undefined
  return () => {
    asked ??= reasonInTime(ready).finally(() => {
      asked = undefined
    })
    return asked
  }
}

function reasonInTime(ready: () => Promise<void>): Promise<string | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limit, `the store did not respond within ${limit} ms`)
    ready()
      .then(
        () => resolve(undefined),
        (error: Error) => resolve(error.message),
      )
      .finally(() => clearTimeout(timer))
  })
}
