import { until } from 'fastify-contract-test-support/poll'
import type { Test } from 'tap'
import { type Postgres, type PostgresOptions, query, startPostgres } from '../../scripts/postgres/temporary-postgres.ts'
import { openStore } from '../../src/store/open.ts'
import type { CreateOutcome, PlantStore, StoredPlant } from '../../src/store/plant-store.ts'

/** The error of a write that may be retried. */
export const unavailable = { name: 'Unavailable', retryAfter: 1 }

/** Starts a PostgreSQL server; closes it when the test ends. */
export async function startServer(t: Test, options: PostgresOptions = {}): Promise<Postgres> {
  const server = await startPostgres(options)
  t.teardown(() => server.close())
  return server
}

/** Creates a role without rights that may log in; drops it when the test ends. Returns its name and URL. */
export async function createGuest(t: Test, url: string): Promise<{ guest: string; guestUrl: string }> {
  const guest = `guest_${new URL(url).pathname.slice(1)}`
  await query(url, `CREATE ROLE ${guest} LOGIN`)
  t.teardown(() => query(url, `DROP OWNED BY ${guest}; DROP ROLE ${guest}`))
  return { guest, guestUrl: Object.assign(new URL(url), { username: guest }).href }
}

/** Opens a store; closes it when the test ends. */
export async function open(t: Test, url: string): Promise<PlantStore> {
  const store = await openStore(url)
  t.teardown(() => store.close())
  return store
}

/** Creates a plant and retries it until it has an outcome, as a client does after a 503; resolves with the outcome. */
export async function createWithRetries(store: PlantStore, plant: StoredPlant): Promise<CreateOutcome> {
  let outcome: CreateOutcome | undefined
  await until(async () => {
    outcome = await store.create(plant).catch(() => undefined)
    return outcome !== undefined
  }, `plant ${plant.id} to be created`)
  return outcome as CreateOutcome
}
