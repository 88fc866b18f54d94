/**
 * npm run backup -- TARGET
 *
 * Copies the SQLite file of STORE_URL, as it is at one moment, into a new file, while the service runs or not.
 */
import { existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { readConfig } from '../src/config/read-config.ts'

const target = process.argv[2]
try {
  if (target === undefined) throw new Error('TARGET is missing, allowed: the path of a new file')
  console.log(`${await backup(sqlitePath(), target)} plants are in ${target}`)
} catch (error) {
  console.error(`backup: ${(error as Error).message}`)
  process.exitCode = 1
}

function sqlitePath(): string {
  const { storeUrl } = readConfig({ STORE_URL: process.env.STORE_URL })
  const [, path] = /^sqlite:(.+)$/.exec(storeUrl) ?? []
  if (path === undefined) throw new Error(`STORE_URL is no sqlite:PATH; its own tools make a copy`)
  return path
}

/** The copy has its name only when it is whole and on the disk: SQLite itself does not sync it. Gives its rows. */
async function backup(path: string, target: string): Promise<number> {
  if (existsSync(target)) throw new Error(`${target} exists`)
  const unfinished = `${target}.unfinished`
  await rm(unfinished, { force: true })
  const source = new Database(path, { readonly: true, fileMustExist: true })
  source.prepare('VACUUM INTO ?').run(unfinished)
  source.close()
  const copy = new Database(unfinished, { readonly: true })
  const damage = copy.pragma('integrity_check', { simple: true })
  const count = copy.prepare('SELECT count(*) FROM plants').pluck().get() as number
  copy.close()
  if (damage !== 'ok') throw new Error(`the copy is damaged: ${damage}`)
  await sync(unfinished)
  await rename(unfinished, target)
  await sync(dirname(target))
  return count
}

async function sync(path: string): Promise<void> {
  const file = await open(path)
  await file.sync()
  await file.close()
}
