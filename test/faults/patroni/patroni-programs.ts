import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Command that installs the scenario's programs on Debian and Ubuntu. */
export const installation = 'apt-get install --no-install-recommends patroni python3-etcd etcd-server postgresql'

/** Directory in which Debian installs each version of PostgreSQL. */
const versions = '/usr/lib/postgresql'

/** Returns the program directory of the newest PostgreSQL; undefined when Patroni, etcd or PostgreSQL is missing. */
export function patroniPrograms(): string | undefined {
  if (spawnSync('patroni', ['--version']).status !== 0) return undefined
  if (spawnSync('etcd', ['--version']).status !== 0) return undefined
  const found = existsSync(versions) ? readdirSync(versions) : []
  return found
    .toSorted((one, other) => Number(other) - Number(one))
    .map((version) => join(versions, version, 'bin'))
    .find((directory) => existsSync(join(directory, 'pg_basebackup')))
}
