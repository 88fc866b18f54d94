import type { Rehearsal } from 'fastify-contract/warm-up'
import type { PlantOperations, PlantStore } from './store/plant-store.ts'

/** The body of a request that creates a plant. */
const body = '{"id":1,"name":"Monstera deliciosa","tag":"indoor"}'

/** Returns a curl command that creates a plant in the service at `url`. */
export const exampleRequest = (url: string, token: string): string =>
  `curl -X POST ${url}/plants -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '${body}'`

/** The HTTP requests of the warm-up. Add no operation whose handler changes anything but the store. */
const requests = (token: string): string[] => [
  `POST /plants HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nX-Request-Id: warm-up\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
]

/**
 * Returns operations that do what the given ones do, except during the rehearsal: then they call those of
 * `store.rehearsal`, or of a memory store if it has none. Each of the given operations is replaced: a rehearsal that
 * lacks or inherits one must not leave the store's own in use.
 */
export function rehearsed(
  operations: PlantOperations,
  store: Pick<PlantStore, 'rehearsal'>,
): { operations: PlantOperations; rehearsal: Rehearsal } {
  // Handlers look up the operations of this object at each call.
  const current = { ...operations }
  const rehearsal: Rehearsal = {
    requests,
    async begin(bound) {
      const others = (await store.rehearsal?.()) ?? (await import('./store/memory.ts')).openMemory()
      for (const name of Object.keys(operations) as (keyof PlantOperations)[]) {
        current[name] = async (plant) => await bound(Reflect.apply(others[name], others, [plant]))
      }
      return () => void Object.assign(current, operations)
    },
  }
  return { operations: current, rehearsal }
}
