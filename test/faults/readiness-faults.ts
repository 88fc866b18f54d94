import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Postgres, query, startPostgres } from '../../scripts/postgres/temporary-postgres.ts'
import type { Journal } from './outcomes.ts'
import { inspectRows } from './postgres-rows.ts'
import { inspect } from './sqlite-file.ts'

/** A store in which a fault makes every write fail until the repair. */
export type BreakableStore = {
  url: string
  /** True when the fault takes effect only after writes have used up the remaining space. */
  needsLoad?: boolean
  fault(): Promise<unknown>
  repair(): Promise<unknown>
  /** Counts rows that no client sent; called after the service has ended. */
  phantoms(journal: Journal): Promise<number>
  close(): Promise<unknown>
}

/** Opens a new store for each fault, below a directory. Rejects when the machine lacks what the fault needs. */
export const faults: Record<string, (directory: string) => Promise<BreakableStore>> = {
  'file replaced': async (directory) => replacedFile(join(directory, 'plants.db')),
  'disk full': async (directory) => fullDisk(join(directory, 'disk')),
  'INSERT revoked': () => guestOf('REVOKE INSERT ON plants FROM guest', 'GRANT INSERT ON plants TO guest'),
  'column renamed': () => guestOf('ALTER TABLE plants RENAME name TO label', 'ALTER TABLE plants RENAME label TO name'),
  'standby away': lostStandby,
}

const phantomsIn = (path: string) => async (journal: Journal) => inspect(path, journal).phantoms

function replacedFile(path: string): BreakableStore {
  const fault = async () => {
    renameSync(path, `${path}.away`)
    writeFileSync(path, '')
  }
  const repair = async () => renameSync(`${path}.away`, path)
  return { url: `sqlite:${path}`, fault, repair, phantoms: phantomsIn(path), close: async () => {} }
}

/** Mounts a disk of 16 MiB. After the fault it is full once the write-ahead log has used the space allocated before. */
function fullDisk(disk: string): BreakableStore {
  mkdirSync(disk)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', disk], { stdio: 'pipe' })
  const unmount = () => execFileSync('umount', ['--lazy', disk])
  process.once('exit', unmount)
  const ballast = join(disk, 'ballast')
  const fault = async () => {
    try {
      writeFileSync(ballast, Buffer.alloc(2 ** 24))
    } catch {
      // The ballast has filled the disk.
    }
  }
  const path = join(disk, 'plants.db')
  const close = async () => {
    process.off('exit', unmount)
    unmount()
  }
  return {
    url: `sqlite:${path}`,
    needsLoad: true,
    fault,
    repair: async () => rmSync(ballast),
    phantoms: phantomsIn(path),
    close,
  }
}

const rowsOf = (server: Postgres) => async (journal: Journal) => (await inspectRows(server, journal)).phantoms

/** Opens a database on which the service has the least privileges that it needs. */
async function guestOf(fault: string, repair: string): Promise<BreakableStore> {
  const server = await startPostgres()
  await server.query('CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)')
  await server.query('CREATE ROLE guest LOGIN')
  await server.query('GRANT SELECT, INSERT, UPDATE ON plants TO guest')
  return {
    url: server.url().replace('//postgres@', '//guest@'),
    fault: () => query(server.url(), fault),
    repair: () => query(server.url(), repair),
    phantoms: rowsOf(server),
    close: () => server.close(),
  }
}

async function lostStandby(): Promise<BreakableStore> {
  const primary = await startPostgres()
  const standby = await primary.standby({ synchronous: true })
  return {
    url: primary.url(),
    fault: () => standby.stop('immediate'),
    repair: () => standby.start(),
    phantoms: rowsOf(primary),
    close: () => Promise.all([standby.close(), primary.close()]),
  }
}
