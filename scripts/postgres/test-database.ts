import { randomBytes } from 'node:crypto'
import { query, startPostgres } from './temporary-postgres.ts'

let server: Promise<string> | undefined

/**
 * Makes an empty database, dropped at the teardown, and gives its URL. It is on the server of TEST_DATABASE_URL, whose
 * user must be allowed to make one, or else on a server that is started once for this process.
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
