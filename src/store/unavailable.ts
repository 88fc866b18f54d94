/** What a store throws when it cannot answer now: nothing is known of the create, and a retry of it is safe. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'
  /** Seconds after which to try again. */
  readonly retryAfter = 1
}
