import { endSource } from '../http/stream-parts.ts'
import { isLate } from '../http/stream-scope.ts'
import { isStream } from './body-senders.ts'

type Streaming<Outcome> = (request: { signal: AbortSignal }) => Promise<Outcome>

/** Wraps a handler: if it returns a stream after the handler timeout, the stream is ended. */
export const endingLateStreams =
  <Outcome extends { body: unknown }>(handler: Streaming<Outcome>): Streaming<Outcome> =>
  async (request) => {
    const outcome = await handler(request)
    if (isLate(request.signal)) endStream(outcome)
    return outcome
  }

/** Ends the stream of an outcome that is not sent, if it has one. */
export function endStream(outcome: { body: unknown } | undefined): void {
  if (isStream(outcome?.body)) endSource(outcome.body)
}
