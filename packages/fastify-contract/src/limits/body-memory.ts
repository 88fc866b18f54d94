import { type BodyMemory, smallBody } from '../http/read-body.ts'
import { overloaded, type ShedReason } from './load-shedding.ts'

/** In V8 a parsed body takes up to this many times the size of its text: `{"25":0}` takes 32 times, most bodies 3. */
const valueFactor = 32

/**
 * Creates the memory accounting of request bodies: at most `limit` bytes for bodies that arrive, and the same again for
 * parsed bodies. Calls `shed` for each rejected body. A body is never rejected while it is the only one.
 */
export function bodyMemory(limit: number, shed: (reason: ShedReason) => void): BodyMemory {
  let arriving = 0
  let values = 0
  const refuse = () => {
    shed('body_memory')
    return overloaded('the service has no memory left for the body')
  }
  return {
    take(bytes, taken) {
      if (arriving > taken && arriving + bytes > limit) return refuse()
      arriving += bytes
      return undefined
    },
    release(bytes) {
      arriving -= bytes
    },
    admit(bytes, held = 0) {
      const isAlone = values === valueFactor * held
      const fits = bytes < smallBody || isAlone || values + valueFactor * bytes <= limit
      return fits ? undefined : refuse()
    },
    during(bytes, outcome) {
      if (bytes < smallBody) return outcome
      values += valueFactor * bytes
      const release = () => {
        values -= valueFactor * bytes
      }
      outcome.then(release, release)
      return outcome
    },
  }
}
