import type { PlantOperations } from '../../../../src/store/open.ts'

/** Passes a value or promise on, but rejects once the deadline has passed. */
type Bound = <Value>(value: Value | Promise<Value>) => Promise<Value>

/** Starts a deadline, `time` milliseconds from now or at the call of `end` if that is earlier. */
export function startDeadline(time: number): { bound: Bound; end(): void } {
  let pass!: () => void
  const passed = new Promise<never>((_, reject) => {
    pass = () => reject(new Error(`the rehearsal of the store did not settle within ${time} ms`))
  })
  passed.catch(() => {})
  const timer = setTimeout(() => pass(), time)
  return {
    bound: (value) => Promise.race([value, passed]),
    end() {
      clearTimeout(timer)
      pass()
    },
  }
}

/** An operation of any document. */
type Operation = (input: unknown) => Promise<unknown>

/**
 * Returns an operation of the rehearsal for each of the store's own: a rehearsal that lacks or inherits an operation
 * must not leave the store's own in use. `bound` ends operations that do not settle, which would otherwise count as
 * running handlers forever.
 */
export function rehearsedOperations(own: PlantOperations, rehearsal: PlantOperations, bound: Bound): PlantOperations {
  const operations = Object.keys(own).map((name) => {
    const call = async (input: unknown) => {
      const operation = rehearsal[name as keyof PlantOperations] as Operation
      return await bound(Reflect.apply(operation, rehearsal, [input]))
    }
    return [name, call]
  })
  return Object.fromEntries(operations) as PlantOperations
}
