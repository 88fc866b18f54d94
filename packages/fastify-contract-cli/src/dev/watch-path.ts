import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** The debounce delay in milliseconds: editors write a file in several steps. */
const debounceDelay = 50

/**
 * Calls `changed` after changes of a file, or below a directory. Watches each directory separately: Node's recursive
 * watcher on Linux watches files and loses a file that an editor replaces by a rename. The file need not exist yet.
 */
export function watchPath(path: string, changed: () => void): void {
  const isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  const watchers = new Map<string, FSWatcher>()
  let timer: NodeJS.Timeout | undefined
  const schedule = (_event: string, name: string | null) => {
    if (!isDirectory && name !== basename(path)) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      watchAll()
      changed()
    }, debounceDelay)
  }
  const watchAll = () => {
    for (const directory of isDirectory ? [path, ...directoriesBelow(path)] : [dirname(path)]) {
      if (watchers.has(directory)) continue
      const forget = () => {
        watchers.get(directory)?.close()
        watchers.delete(directory)
      }
      watchers.set(directory, watch(directory, schedule).on('error', forget))
    }
  }
  watchAll()
}

const directoriesBelow = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))
