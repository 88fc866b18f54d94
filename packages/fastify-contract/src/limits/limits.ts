/** The limits on the work that clients can cause. Times are in milliseconds; a rate of 0 means no limit. */
export type Limits = {
  /** Bytes of a body that is read whole. */
  body: number
  /** Bytes of memory for all arriving bodies, and the same again for all parsed bodies. */
  bodyMemory: number
  /** Bytes of a body that its handler reads as a stream. */
  upload: number
  /** Number of fields of a form, or of parts of a multipart form. */
  formFields: number
  /** Bytes of a header section. */
  headers: number
  /** Time until the headers of a request must have arrived. */
  headersTime: number
  /** Time until a whole request must have arrived. */
  requestTime: number
  /** Time after which an idle connection is closed. */
  keepAliveTime: number
  /** Time after which a handler counts as failed. */
  handlerTime: number
  /** Number of open connections. */
  connections: number
  /** Number of handlers that run at the same time. */
  inFlight: number
  /** Average event loop delay above which requests are rejected. */
  eventLoopDelay: number
  /** Requests of one client a minute. */
  requests: number
  /** Failed authentications from one address a minute. */
  authFailures: number
}

/** Limits that a small machine can sustain and that no well-behaved client reaches. */
export const defaultLimits: Limits = {
  body: 262_144,
  bodyMemory: 67_108_864,
  upload: 67_108_864,
  formFields: 1_000,
  headers: 16_384,
  headersTime: 10_000,
  requestTime: 30_000,
  // Longer than the idle timeout of most load balancers, one minute: otherwise they would reuse a closed connection.
  keepAliveTime: 72_000,
  handlerTime: 10_000,
  connections: 10_000,
  inFlight: 512,
  eventLoopDelay: 200,
  requests: 0,
  authFailures: 60,
}
