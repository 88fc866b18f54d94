/**
 * Reads a body of fetch, at most `limit` bytes. Rejects with the error of `tooLarge` for a longer one. A missing body has
 * no bytes.
 */
export async function readWebStream(
  body: ReadableStream<Uint8Array> | null,
  limit: number,
  tooLarge: () => Error,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  // Leaving the loop by an error cancels the body, which closes the connection.
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > limit) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
