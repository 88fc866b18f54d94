/**
 * Sets the environment variables of a file, such as `.env`, that are not set yet. A missing file sets none.
 *
 * @throws {Error} If the file cannot be read; the message is one line.
 */
export function loadEnvironmentFile(path: string): void {
  try {
    process.loadEnvFile(path)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return
    throw new Error(`${path} cannot be read (${message}); make it a file with lines NAME=VALUE, or remove it`)
  }
}
