import { realpathSync, statSync } from 'node:fs'

/** The files of an open database: the database itself and its write-ahead log. */
export type DatabaseFiles = {
  /**
   * Returns a function that throws when another file, or none, has come to the path of either: before it runs, so that
   * nothing is written there, and after it, because what an unlinked file holds must not be acknowledged.
   */
  guard<Args extends unknown[], Result>(run: (...args: Args) => Result): (...args: Args) => Result
  /** Returns the size of the write-ahead log, 0 when it is gone. */
  journalBytes(): number
}

/**
 * Remembers which files are at the paths of a database, once it is open and has a write-ahead log. The files are compared
 * by path, because a descriptor of our own would release SQLite's locks when it is closed (fcntl(2)).
 */
export function rememberFiles(path: string): DatabaseFiles {
  // SQLite follows a symbolic link before it appends the suffix.
  const journal = `${realpathSync(path)}-wal`
  const opened = [path, journal].map((file) => ({ file, identity: identityOf(file) }))
  const assertInPlace = () => {
    for (const { file, identity } of opened) if (identityOf(file) !== identity) throw new MovedError(file)
  }
  return {
    guard:
      (run) =>
      (...args) => {
        assertInPlace()
        const result = run(...args)
        assertInPlace()
        return result
      },
    journalBytes: () => stat(journal)?.size ?? 0,
  }
}

/** Has the code that SQLite itself has for this, which it does not look for in WAL mode. */
class MovedError extends Error {
  readonly code = 'SQLITE_READONLY_DBMOVED'
  constructor(file: string) {
    super(`${file} was removed or replaced while it was in use; put it back, or restart the service on the right one`)
  }
}

function identityOf(file: string): string | undefined {
  const found = stat(file)
  return found && `${found.dev}:${found.ino}`
}

/** A path that cannot be followed any more, for whatever reason, leads to no file. */
function stat(file: string) {
  try {
    return statSync(file)
  } catch {
    return undefined
  }
}
