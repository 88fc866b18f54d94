import { freePort } from 'fastify-contract-test-support/free-port'
import type { Test } from 'tap'
import { startGuarded } from './guarded-process.ts'
import type { SpannerPrograms } from './spanner-programs.ts'

/** Long timeouts: the emulator aborts and retries all transactions but one, and the machine may be busy. */
const patience = 'connect_timeout=60&statement_timeout=120000&query_timeout=180000'

/**
 * Starts Spanner's emulator behind PGAdapter, both until the test ends. Returns a function that returns the URL of an
 * empty database by name; the first connection creates the database.
 */
export async function startSpanner(
  t: Test,
  { emulator, pgadapter }: SpannerPrograms,
): Promise<(name: string) => string> {
  const [inner, outer] = [await freePort(), await freePort()]
  const endEmulator = await startGuarded(emulator, [`--host_port=127.0.0.1:${inner}`], {}, /Server address: /)
  t.teardown(endEmulator)
  const main = 'com.google.cloud.spanner.pgadapter.Server'
  const instance = ['-p', 'plants', '-i', 'plants', '-r', 'autoConfigEmulator=true']
  const endAdapter = await startGuarded(
    'java',
    ['-cp', pgadapter, main, ...instance, '-s', String(outer)],
    { SPANNER_EMULATOR_HOST: `127.0.0.1:${inner}` },
    /Server started on port/,
  )
  t.teardown(endAdapter)
  return (name) => `postgres://plants@127.0.0.1:${outer}/${name}?${patience}`
}
