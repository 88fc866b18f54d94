import type { TargetFailure } from '../exchange.ts'

/** Reports that a request has no complete response. Its message contains neither credentials nor a body. */
export class TargetError extends Error {
  override readonly name = 'TargetError'
  readonly kind: TargetFailure['kind']

  constructor(kind: TargetFailure['kind'], message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

/** The bounds of what a server under test can cause. */
export type TargetLimits = {
  /** Milliseconds from the call until the response is complete, with the wait for a connection. */
  time: number
  /** Bytes of the body of a response. */
  bytes: number
  /** Number of open connections. */
  connections: number
}

/** The time exceeds the handler timeout of the engine, whose 503 is a response like any other. */
export const defaultTargetLimits: TargetLimits = { time: 15_000, bytes: 2 ** 24, connections: 8 }

/** Returns the error of a response that takes too long. */
export const late = (time: number): TargetError =>
  new TargetError(
    'timeout',
    `no complete response within ${time} ms; the server may hang, or the time limit is too short`,
  )

/** Returns the error of a response with a too large body. */
export const tooLarge = (bytes: number): TargetError =>
  new TargetError('tooLarge', `the body of the response has more than ${bytes} bytes; it may be a stream without end`)

/** Returns the error of a response that ends early. */
export const cutOff = (cause?: unknown): TargetError =>
  new TargetError('broken', 'the server closed the connection before the response was complete', cause)
