import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { join } from 'node:path'

/** The debounce delay in milliseconds: editors write a file in several steps. */
const debounceDelay = 50

/**
 * Calls `changed` after changes below a folder. Watches each folder separately: Node's recursive watcher on Linux
 * watches files and loses a file that an editor replaces by a rename.
 */
export function watchFolder(root: string, changed: () => void): void {
  const watchers = new Map<string, FSWatcher>()
  let timer: NodeJS.Timeout | undefined
  const schedule = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      watchAll()
      changed()
    }, debounceDelay)
  }
  const watchAll = () => {
    const below = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory())
    for (const folder of [root, ...below.map(({ parentPath, name }) => join(parentPath, name))]) {
      if (watchers.has(folder)) continue
      const forget = () => {
        watchers.get(folder)?.close()
        watchers.delete(folder)
      }
      watchers.set(folder, watch(folder, schedule).on('error', forget))
    }
  }
  watchAll()
}
