/** Milliseconds that a probe waits. */
const limit = 2_000

/**
 * Takes what resolves when the service can do its work and rejects with the reason when it cannot; gives what tells a
 * probe the reason, undefined when there is none. Probes that come together ask once.
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
