/** A line of a stream with its number, counted from 1. `bytes` is undefined for a line above the limit. */
export type NumberedLine = { number: number; bytes: Buffer | undefined }

const lineFeed = 0x0a

/**
 * Yields the lines completed by each chunk of a stream. `limit` is in bytes; no more of a line is held in memory. A line
 * above it is yielded as soon as it exceeds the limit, and its rest is skipped.
 *
 * @param end The byte that ends a line.
 */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  limit: number,
  end = lineFeed,
): AsyncGenerator<NumberedLine[]> {
  let number = 1
  let parts: Buffer[] = []
  let size = 0
  let isSkipped = false

  /** Adds a part of the current line. Returns the line if that exceeds the limit. */
  const add = (part: Buffer): NumberedLine[] => {
    size += part.length
    if (size <= limit) parts.push(part)
    if (size <= limit || isSkipped) return []
    parts = []
    isSkipped = true
    return [{ number, bytes: undefined }]
  }
  /** Returns the current line, unless it was yielded, and starts the next one. */
  const finish = (): NumberedLine[] => {
    const lines = isSkipped ? [] : [{ number, bytes: parts.length === 1 ? parts[0] : Buffer.concat(parts) }]
    number++
    parts = []
    size = 0
    isSkipped = false
    return lines
  }

  for await (const chunk of chunks) {
    const lines: NumberedLine[] = []
    let start = 0
    for (let at = chunk.indexOf(end); at !== -1; at = chunk.indexOf(end, start)) {
      lines.push(...add(chunk.subarray(start, at)), ...finish())
      start = at + 1
    }
    if (start < chunk.length) lines.push(...add(chunk.subarray(start)))
    yield lines
  }
  if (size > 0) yield finish()
}
