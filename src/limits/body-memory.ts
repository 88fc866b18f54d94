import { type BodyMemory, smallBody } from '../http/read-body.ts'
import { overloaded, type ShedReason } from './load-shedding.ts'

/** The value of a body costs up to so many times its text in V8: `{"25":0}` costs 32, most bodies 3. */
const valueFactor = 32

/**
 * Creates the count of what bodies hold in memory: at most `limit` bytes while they arrive, and as many as values. Calls
 * `shed` for each body that it refuses. A body that is alone is never refused.
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
