import { type Stats, statSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseTokens, readTokensFile, type TokenEntry } from '../auth/token-file.ts'
import { syncPath } from '../store/durable-files.ts'
import { realPathOf } from '../store/real-path.ts'
import { lockTokensFile } from './token-file-lock.ts'

/** Milliseconds that another command may keep this one waiting. */
const timeout = 5_000

/** Returns the entries of the tokens file at `path`. */
export const readTokens = async (path: string): Promise<TokenEntry[]> =>
  parseTokens((await readTokensFile(path)).toString())

/**
 * Changes the tokens file at `path`, or makes one where there is none; gives what `change` gave. Whoever reads the file
 * finds it whole, as it was or as it is now, also after a crash, and no other command changes it meanwhile. Rejects
 * with the reason when the file or the change cannot be, and has changed nothing.
 */
export async function changeTokens<T extends { entries: TokenEntry[] }>(
  path: string,
  change: (entries: TokenEntry[]) => T,
): Promise<T> {
  // A rename would put a file where a link was, also where a link leads to no file yet.
  const real = realPathOf(path)
  const release = await lock(`${real}-lock`)
  try {
    const before = statSync(real, { throwIfNoEntry: false })
    const changed = change(before === undefined ? [] : await readTokens(real))
    const text = `${JSON.stringify({ tokens: changed.entries }, null, 2)}\n`
    parseTokens(text)
    await replace(real, text, before)
    return changed
  } finally {
    release()
  }
}

/** Locks a file that only its owner can open; returns what releases the lock. */
async function lock(path: string): Promise<() => void> {
  // Whoever can open it can lock it.
  const file = await open(path, 'a', 0o600)
  await file.close()
  return await lockTokensFile(path, timeout)
}

/** A new file is its owner's alone; one that was there keeps owner and mode: root may change that of the service. */
async function replace(path: string, text: string, before: Stats | undefined): Promise<void> {
  const unfinished = `${path}.unfinished`
  await rm(unfinished, { force: true })
  const file = await open(unfinished, 'wx', 0o600)
  try {
    if (before !== undefined) {
      await file.chown(before.uid, before.gid)
      await file.chmod(before.mode & 0o777)
    }
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(unfinished, path)
  syncPath(dirname(path))
}
