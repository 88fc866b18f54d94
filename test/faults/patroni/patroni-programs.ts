import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The command that installs what the scenario needs on Debian and Ubuntu. */
export const installation = 'apt-get install --no-install-recommends patroni python3-etcd etcd-server postgresql'

/** Where Debian's packages of PostgreSQL have the programs of each version. */
const versions = '/usr/lib/postgresql'

/** Returns the directory of the programs of the newest PostgreSQL; undefined when a program is missing. */
export function patroniPrograms(): string | undefined {
  if (spawnSync('patroni', ['--version']).status !== 0) return undefined
  if (spawnSync('etcd', ['--version']).status !== 0) return undefined
  const found = existsSync(versions) ? readdirSync(versions) : []
  return found
    .toSorted((one, other) => Number(other) - Number(one))
    .map((version) => join(versions, version, 'bin'))
    .find((directory) => existsSync(join(directory, 'pg_basebackup')))
}
