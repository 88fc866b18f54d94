import { Readable } from 'node:stream'

/** A byte stream that a handler reads, with backpressure. */
export type ByteSource = AsyncIterable<Buffer> & Readable

type Tap = {
  /** Runs at the first read, before the source is read. */
  begin?(): void
  /** Returns the error that ends the stream, if any. Called for each chunk and at the end, with the length so far. */
  check?(length: number, isWhole: boolean): Error | undefined
  /** Runs when the stream is destroyed, with the source paused. */
  leave?(): void
}

/** Bytes that the stream buffers before it pauses its source: one chunk of a socket. */
const highWaterMark = 65_536

/**
 * Returns a stream of the bytes of another stream. Destroying it does not destroy the source, because a request shares
 * its connection with the response.
 */
export function tapStream(source: Readable, { begin, check, leave }: Tap): ByteSource {
  let length = 0
  let isOpen = false
  const take = (chunk: Buffer) => {
    length += chunk.length
    const error = check?.(length, false)
    if (error !== undefined) tapped.destroy(error)
    else if (!tapped.push(chunk)) source.pause()
  }
  const end = () => {
    const error = check?.(length, true)
    if (error === undefined) tapped.push(null)
    else tapped.destroy(error)
  }
  const tapped: Readable = new Readable({
    highWaterMark,
    read() {
      if (!isOpen) {
        isOpen = true
        begin?.()
        source.on('data', take).on('end', end)
      }
      source.resume()
    },
    destroy(error, done) {
      source.off('data', take).off('end', end).pause()
      leave?.()
      done(error)
    },
  })
  // Without a listener, an error of a stream that nobody reads would end the process.
  tapped.on('error', ignore)
  return tapped as ByteSource
}

const ignore = () => {}
