import { type Files, writeStale } from './generated-files.ts'
import { handlerStubs, publishedIn } from './handler-stubs.ts'

/**
 * Writes the files that differ from what is in a directory, and prints the handlers that they ask for and the document
 * there did not. Returns the paths that were written. Writes nothing where the handlers cannot be made: the next run
 * would not print them.
 */
export async function updateGenerated(files: Files, directory: string): Promise<string[]> {
  const handlers = handlerStubs(files, await publishedIn(directory))
  const written = await writeStale(files, directory)
  if (handlers.length > 0) console.log(`new, for src/handlers.ts:\n\n${handlers.join('\n\n')}\n`)
  return written
}
