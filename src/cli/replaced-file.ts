import { existsSync, rmSync, statSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncPath } from '../store/durable-files.ts'
import { realPathOf } from '../store/real-path.ts'

export type ReplacedFile = {
  write(text: string): Promise<void>
  /** Syncs what was written and gives it the name of the file. */
  finish(): Promise<void>
  /** Removes what was written, unless it is finished. */
  close(): Promise<void>
}

/**
 * Makes a file that takes the place of another one, or of none, once it is whole; until then nothing changes. What a
 * killed process left is removed. Rejects when the path leads to anything but a file.
 */
export async function replaceFile(path: string): Promise<ReplacedFile> {
  if (!existsSync(dirname(path))) throw new Error(`${dirname(path)} does not exist; make that directory`)
  const real = realPathOf(path)
  const old = statSync(real, { throwIfNoEntry: false })
  if (old !== undefined && !old.isFile()) throw new Error(`${path} is no file; name one`)
  const unfinished = `${real}.unfinished`
  rmSync(unfinished, { force: true })
  const handle = await open(unfinished, 'wx', 0o600)
  const own = await handle.stat()
  const isOwn = () => statSync(unfinished, { throwIfNoEntry: false })?.ino === own.ino
  if (old !== undefined) await handle.chmod(old.mode & 0o777)
  return {
    async write(text) {
      await handle.writeFile(text)
    },
    async finish() {
      await handle.sync()
      // Another process may have removed it, as what a killed one left.
      if (!isOwn()) throw new Error(`another process writes ${path}; name another file`)
      await rename(unfinished, real)
      syncPath(dirname(real))
    },
    async close() {
      if (isOwn()) rmSync(unfinished)
      await handle.close()
    },
  }
}
