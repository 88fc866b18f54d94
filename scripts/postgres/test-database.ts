import { randomBytes } from 'node:crypto'
import { query, startPostgres } from './temporary-postgres.ts'

let server: Promise<string> | undefined

/**
 * Creates an empty database, which the teardown drops, and returns its URL. The server is that of TEST_DATABASE_URL,
 * whose user needs the right to create databases, or else one that the first call in this process starts.
 */
export async function testDatabase(t: { teardown(cleanUp: () => Promise<void>): void }): Promise<string> {
  server ??= process.env.TEST_DATABASE_URL
    ? Promise.resolve(process.env.TEST_DATABASE_URL)
    : startPostgres().then((own) => own.url())
  const url = new URL(await server)
  const name = `plant_store_test_${randomBytes(8).toString('hex')}`
  await query(await server, `CREATE DATABASE ${name}`)
  t.teardown(async () => {
    await query(await (server as Promise<string>), `DROP DATABASE ${name} WITH (FORCE)`)
  })
  url.pathname = name
  return url.href
}
