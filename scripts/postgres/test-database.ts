import { randomBytes } from 'node:crypto'
import { query, startPostgres } from './temporary-postgres.ts'

let server: Promise<string> | undefined

/** Databases of the own server that no test uses any more, as they were when created. */
const unused: string[] = []

/**
 * Returns the URL of an empty database, for one test. The server is that of TEST_DATABASE_URL, whose user needs the right
 * to create databases, or else one that the first call in this process starts.
 */
export async function testDatabase(t: { teardown(cleanUp: () => Promise<void>): void }): Promise<string> {
  const { TEST_DATABASE_URL: given } = process.env
  server ??= given ? Promise.resolve(given) : startPostgres().then((own) => own.url())
  const administration = await server
  const name = unused.pop() ?? (await createDatabase(administration))
  const url = Object.assign(new URL(administration), { pathname: name }).href
  t.teardown(async () => {
    if (given) await query(administration, `DROP DATABASE ${name} WITH (FORCE)`)
    else {
      await clear(url, name)
      unused.push(name)
    }
  })
  return url
}

async function createDatabase(url: string): Promise<string> {
  const name = `plant_store_test_${randomBytes(8).toString('hex')}`
  await query(url, `CREATE DATABASE ${name}`)
  return name
}

/** Restores the state of a new database, which takes a tenth of the time of creating one. */
async function clear(url: string, name: string): Promise<void> {
  await query(
    url,
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid();
     ALTER DATABASE ${name} RESET ALL;
     DROP SCHEMA public CASCADE;
     CREATE SCHEMA public AUTHORIZATION pg_database_owner;
     GRANT USAGE ON SCHEMA public TO public;
     SELECT pg_stat_reset()`,
  )
}
