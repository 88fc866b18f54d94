/** Milliseconds that a probe waits. */
const limit = 2_000

/**
 * Returns a probe of `ready`, which rejects with the reason when the service cannot do its work. The probe resolves to
 * that reason, or to undefined. Concurrent probes share one call.
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
    const timer = setTimeout(resolve, limit, `no answer within ${limit} ms`)
    ready()
      .then(
        () => resolve(undefined),
        (error: Error) => resolve(error.message),
      )
      .finally(() => clearTimeout(timer))
  })
}
