import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { join } from 'node:path'

/** Milliseconds to wait after the last change before calling back: editors write a file in several steps. */
const quiet = 50

/**
 * Calls back after changes below a folder. Each folder is watched by itself: Node's recursive watcher on Linux follows
 * files, and loses one that an editor replaces by a rename.
 */
export function watchFolder(root: string, changed: () => void): void {
  const watchers = new Map<string, FSWatcher>()
  let timer: NodeJS.Timeout | undefined
  const note = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      watchAll()
      changed()
    }, quiet)
  }
  const watchAll = () => {
    const below = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory())
    for (const folder of [root, ...below.map(({ parentPath, name }) => join(parentPath, name))]) {
      if (watchers.has(folder)) continue
      const forget = () => {
        watchers.get(folder)?.close()
        watchers.delete(folder)
      }
      watchers.set(folder, watch(folder, note).on('error', forget))
    }
  }
  watchAll()
}
