import { readlinkSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/**
 * Returns the absolute path of a file with all symbolic links resolved. The file itself may be missing: the path is
 * then where an open through the links would create it. Throws when the directory of the file does not exist.
 */
export function realPathOf(path: string): string {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return realpathSync(path)
  const target = linkTarget(path)
  if (target !== undefined) return realPathOf(resolve(dirname(path), target))
  return join(realpathSync(dirname(path)), basename(path))
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
