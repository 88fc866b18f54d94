import { chmod, copyFile, cp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { chownToServer, execute, program } from './postgres-programs.ts'

export type DataOptions = {
  /** The password of the superuser; default: connections need none. */
  password?: string | undefined
  /** Enables TLS, with a self-signed certificate for localhost and 127.0.0.1. */
  tls?: boolean
}

/** Initializes a data directory with the superuser `postgres`. */
export async function initialize(data: string, { password, tls = false }: DataOptions): Promise<void> {
  const file = `${data}.password`
  await writeFile(file, `${password}\n`)
  chownToServer(file)
  const auth = password === undefined ? ['--auth=trust'] : ['--auth=scram-sha-256', `--pwfile=${file}`]
  // --no-sync concerns only the new files: the server itself syncs what it commits.
  const args = ['--no-sync', '--encoding=UTF8', '--locale=C', '--username=postgres', ...auth]
  await execute(program('initdb'), [`--pgdata=${data}`, ...args])
  await rm(file)
  if (tls) await certify(data)
}

/** Installs the certificate under the server's default names; the server refuses a key that others can read. */
async function certify(data: string): Promise<void> {
  for (const name of ['server.key', 'server.crt']) {
    const file = join(data, name)
    await copyFile(new URL(`certificate/${name}`, import.meta.url), file)
    await chmod(file, 0o600)
    chownToServer(file)
  }
}

const notInBackup = /\/(postmaster\.\w+|(pg_wal|pg_replslot|pg_dynshmem)\/.*)$/

/** Copies a running server by a base backup and configures the copy as the standby `name`. */
export async function copyData(from: { data: string; url: string }, data: string, name: string): Promise<void> {
  const client = new pg.Client(from.url)
  await client.connect()
  try {
    // The session must stay open: the backup mode ends with it.
    await client.query('SELECT pg_backup_start($1, true)', [name])
    await cp(from.data, data, { recursive: true, filter: (path) => !notInBackup.test(path) })
    const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)')
    await writeFile(join(data, 'backup_label'), rows[0].labelfile)
  } finally {
    await client.end()
  }
  const primary = `${from.url}?application_name=${name}`
  await writeFile(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${primary}'\n`)
  await writeFile(join(data, 'standby.signal'), '')
  chownToServer(data)
}
