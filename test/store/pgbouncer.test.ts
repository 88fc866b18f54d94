import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { chownToServer, makeDirectory, unprivileged } from '../../scripts/postgres/postgres-programs.ts'
import { query, startPostgres } from '../../scripts/postgres/temporary-postgres.ts'
import { freePort } from '../../scripts/system/free-port.ts'
import { until } from '../../scripts/system/poll.ts'
import { conformance } from '../../src/store/conformance.ts'
import { openStore } from '../../src/store/open.ts'

const installed = spawnSync('pgbouncer', ['--version']).status === 0

/** Starts PgBouncer in transaction mode and returns its port. It refuses to run as root, so it runs unprivileged. */
async function startBouncer(t: Test, upstream: number): Promise<number> {
  const port = await freePort()
  const directory = makeDirectory()
  const file = directory.data
  const settings = [
    `[databases]\n* = host=127.0.0.1 port=${upstream} user=postgres\n[pgbouncer]`,
    `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = any`,
    'pool_mode = transaction\ndefault_pool_size = 2\nlogfile =\npidfile =\n',
  ]
  writeFileSync(file, settings.join('\n'))
  chownToServer(file)
  const bouncer = spawn('pgbouncer', [file], { ...unprivileged, stdio: 'ignore' })
  const exited = once(bouncer, 'exit')
  t.teardown(async () => {
    bouncer.kill('SIGKILL')
    await exited
    await directory.remove()
  })
  await until(async () => {
    if (bouncer.exitCode !== null) throw new Error(`PgBouncer exited with ${bouncer.exitCode}`)
    return await query(`postgres://postgres@127.0.0.1:${port}/postgres`, 'SELECT 1').then(
      () => true,
      () => false,
    )
  }, 'PgBouncer to accept connections')
  return port
}

t.test(
  'the store passes the conformance suite behind PgBouncer in transaction mode',
  { skip: !installed && 'NOT RUN: pgbouncer is not installed' },
  async (t) => {
    const server = await startPostgres()
    t.teardown(() => server.close())
    const port = await startBouncer(t, server.port)
    await t.rejects(openStore(`postgres://postgres@127.0.0.1:${port}/postgres`), /unsupported startup parameter/)
    for (const [index, [name, run]] of Object.entries(conformance).entries()) {
      await server.query(`CREATE DATABASE conformance${index}`)
      const url = `postgres://postgres@127.0.0.1:${port}/conformance${index}?statement_timeout=0`
      await t.resolves(
        run(() => openStore(url), true),
        name,
      )
    }
  },
)
