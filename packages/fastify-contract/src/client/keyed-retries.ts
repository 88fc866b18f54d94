export const keyHeaderName = 'idempotency-key'

/** Adds an idempotency key to the headers of a call, unless they have one. */
export function addKey(headers: Headers): void {
  if (!headers.has(keyHeaderName)) headers.set(keyHeaderName, newKey())
}

/** Returns 128 random bits. Unlike randomUUID, getRandomValues exists in pages without TLS. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Milliseconds before the first retry without Retry-After; each further one waits twice as long. */
const firstPause = 250

/** Seconds of a Retry-After above which the caller gets the response instead. */
const longestPause = 30

type RetryOptions = {
  /** The maximum number of further attempts. */
  retries: number
  /** Ends the attempts. */
  signal?: AbortSignal | null | undefined
}

/** A response, with its body if that is read whole. */
export type AttemptOutcome = { response: Response; text?: string }

/**
 * Sends a request whose repetition is safe. Sends it again if there is no complete response, or one that announces that
 * another attempt may succeed. Returns the last response, or rejects with the last error.
 */
export async function sendWithRetries(
  send: () => Promise<AttemptOutcome>,
  { retries, signal }: RetryOptions,
): Promise<AttemptOutcome> {
  for (let attempt = 0; attempt < retries; attempt++) {
    // Random, so that clients that failed together do not return together.
    let pause = firstPause * 2 ** attempt * (0.5 + Math.random() / 2)
    try {
      const received = await send()
      const { status, headers } = received.response
      const seconds = Number(headers.get('retry-after') ?? Number.NaN)
      if (!mayRetry(status, seconds)) return received
      if (seconds >= 0) pause = Math.max(pause, 1_000 * seconds)
    } catch (error) {
      if (signal?.aborted) throw error
    }
    await wait(pause, signal)
  }
  return await send()
}

/** Returns whether another attempt may succeed. A 409 without Retry-After is that of the operation itself. */
const mayRetry = (status: number, seconds: number): boolean =>
  !(seconds > longestPause) && ([429, 502, 503, 504].includes(status) || (status === 409 && seconds >= 0))

/** Waits, and rejects at once if the signal aborts. */
async function wait(milliseconds: number, signal: RetryOptions['signal']): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>(function pause(resolve, reject) {
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(function end() {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', abort, { once: true })
  })
}
