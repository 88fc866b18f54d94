/** A line of a file with its number, counted from 1. `bytes` is undefined for a line above the limit. */
export type NumberedLine = { number: number; bytes: Buffer | undefined }

const lineFeed = 0x0a

/** Yields the lines that end in each chunk of a stream. `limit` is in bytes; no more of a line is held in memory. */
export async function* readLines(chunks: AsyncIterable<Buffer>, limit: number): AsyncGenerator<NumberedLine[]> {
  let number = 0
  let parts: Buffer[] = []
  let size = 0

  const add = (part: Buffer) => {
    size += part.length
    if (size <= limit) parts.push(part)
    else parts = []
  }
  const finishLine = (): NumberedLine => {
    const bytes = size > limit ? undefined : parts.length === 1 ? parts[0] : Buffer.concat(parts)
    parts = []
    size = 0
    return { number: ++number, bytes }
  }

  for await (const chunk of chunks) {
    const lines: NumberedLine[] = []
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      add(chunk.subarray(start, end))
      lines.push(finishLine())
      start = end + 1
    }
    if (start < chunk.length) add(chunk.subarray(start))
    yield lines
  }
  if (size > 0) yield [finishLine()]
}
