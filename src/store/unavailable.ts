/** Reports that a store cannot answer now. The outcome of the create is unknown, and a retry is safe. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'
  /** Seconds until the next try. */
  readonly retryAfter = 1
}
