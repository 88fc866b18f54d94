import { Readable } from 'node:stream'

/** Bytes that a handler reads as they come, as fast as it takes them. */
export type ByteSource = AsyncIterable<Buffer> & Readable

type Tap = {
  /** Runs when the reader asks for the first time, before the source is read. */
  begin?(): void
  /** Returns the error that ends the bytes, if any: called for each chunk, and at the end, with the length of all so far. */
  check?(length: number, isWhole: boolean): Error | undefined
  /** Runs when the stream is destroyed, with the source paused. */
  leave?(): void
}

/** Bytes that wait in a stream before its source has to: the chunk of a socket. */
const highWaterMark = 65_536

/**
 * Returns a stream of the bytes of another one. Destroying it does not destroy the source: a request shares its connection
 * with its answer.
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
  // Without a listener the error of a stream that is not read would end the process.
  tapped.on('error', ignore)
  return tapped as ByteSource
}

const ignore = () => {}
