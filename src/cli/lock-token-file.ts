/** Loads the lock of SQLite. */
const loadDriver = async () => await import('../store/sqlite/sqlite-driver.ts')

/**
 * Locks a file with SQLite, or without SQLite with `flock`. The two kinds of locks do not exclude each other. Resolves
 * with the function that unlocks the file, or with undefined when the file cannot be locked within `timeout` ms.
 */
export async function lockTokenFile(
  path: string,
  timeout: number,
  flock: (path: string, timeout: number) => Promise<(() => void) | undefined>,
  load: () => Promise<Pick<Awaited<ReturnType<typeof loadDriver>>, 'lockFile' | 'NoSqlite'>> = loadDriver,
): Promise<(() => void) | undefined> {
  const { lockFile, NoSqlite } = await load()
  try {
    return lockFile(path, timeout)
  } catch (error) {
    if (!(error instanceof NoSqlite)) return undefined
    return await flock(path, timeout)
  }
}
