import { hash } from 'node:crypto'
import { readFileSync, type Stats, statSync } from 'node:fs'

/** The states of paths: of each, what its file holds, or that there is none. */
export type FileStates = Map<string, string>

/** The state of a path that leads to no readable file. */
export const noFile = 'no file'

/** Returns the state of a file with these bytes, or with this text: their number and their digest. */
export const stateOf = (contents: Uint8Array | string): string =>
  `${Buffer.byteLength(contents)} ${hash('sha256', contents)}`

/** Returns the state of a path. */
export function fileState(path: string): string {
  try {
    return statOf(path)?.isFile() ? stateOf(readFileSync(path)) : noFile
  } catch {
    return noFile
  }
}

/**
 * Returns whether a path has a state. Only the contents count, not the times of a file, which tools set as they like. A
 * file of another size is not read.
 */
export function hasState(path: string, state: string): boolean {
  const stats = statOf(path)
  if (stats?.isFile() && !state.startsWith(`${stats.size} `)) return false
  return fileState(path) === state
}

/** Returns undefined also for a path whose parent is no readable directory. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
