/** What bounds the work that anybody can make for the service. Times are in milliseconds, 0 of a rate is no limit. */
export type Limits = {
  /** Bytes of a body, of what all bodies hold in memory, and of the header section. */
  body: number
  bodyMemory: number
  /** Bytes of a body that its handler reads as a stream, and the fields of a form. */
  upload: number
  formFields: number
  headers: number
  /** In which the headers, and in which the whole of a request must have arrived. */
  headersTime: number
  requestTime: number
  /** How long a connection stays without a request. */
  keepAliveTime: number
  /** In which a handler must have its outcome. */
  handlerTime: number
  connections: number
  /** Handlers under way. */
  inFlight: number
  eventLoopDelay: number
  /** A minute: requests of one client, and requests from one address that are refused for their token. */
  requests: number
  authFailures: number
}

/** What a service on a small machine bears, and no well-meaning client meets. */
export const defaultLimits: Limits = {
  body: 262_144,
  bodyMemory: 67_108_864,
  upload: 67_108_864,
  formFields: 1_000,
  headers: 16_384,
  headersTime: 10_000,
  requestTime: 30_000,
  // Longer than the minute after which most load balancers drop an idle connection: else they would use a closed one.
  keepAliveTime: 72_000,
  handlerTime: 10_000,
  connections: 10_000,
  inFlight: 512,
  eventLoopDelay: 200,
  requests: 0,
  authFailures: 60,
}
