import { SourceError } from './read-source.ts'

/** Returns whether the user named a document by a URL. */
export const isUrl = (path: string): boolean => /^https?:\/\//i.test(path)

/** The time for the whole answer, in milliseconds. */
const timeLimit = 30_000

/**
 * Fetches the document that the user named by a URL. Redirects are not followed: only the user names what is fetched.
 * Throws a SourceError.
 */
export async function fetchDocument(url: string, limit: number): Promise<{ bytes: Uint8Array }> {
  const fail = (problem: string) => new SourceError(`${url}: ${problem}`)
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeLimit) })
    const location = response.headers.get('location')
    if (location !== null) throw fail(`redirects to ${new URL(location, url).href}; name that URL`)
    if (!response.ok) throw fail(`responds with ${response.status}; name the URL of an OpenAPI document`)
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of response.body ?? []) {
      size += chunk.length
      if (size > limit) throw fail(`has more than ${limit} bytes; split it`)
      chunks.push(chunk)
    }
    return { bytes: Buffer.concat(chunks) }
  } catch (error) {
    if (error instanceof SourceError) throw error
    const { message, cause } = error as Error
    throw fail(`cannot be fetched (${(cause as Error | undefined)?.message ?? message}); check the URL`)
  }
}
