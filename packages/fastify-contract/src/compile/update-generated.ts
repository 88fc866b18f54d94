import { type Files, writeStale } from './generated-files.ts'
import { handlerStubs, publishedIn } from './handler-stubs.ts'

/**
 * Writes the files that differ from those in a directory, prints a handler for each new operation, and returns the
 * paths of the written files. Creates the handlers first: if that fails, nothing is written, because the next run would
 * not print them.
 */
export async function updateGenerated(files: Files, directory: string): Promise<string[]> {
  const handlers = handlerStubs(files, await publishedIn(directory))
  const written = await writeStale(files, directory)
  if (handlers.length > 0) console.log(`new, for src/handlers.ts:\n\n${handlers.join('\n\n')}\n`)
  return written
}
