import { IncomingMessage } from 'node:http'

/** Bytes; a chunk that is no smaller is worth the object that Node makes of it. */
const small = 1_024

/**
 * A request whose body costs about its bytes, however small its chunks are. Node parses up to 64 KiB of a connection at
 * once, and makes an object of about 250 bytes of each chunk. Those behind the first, which is mostly the only one, are
 * put together until the end of that parse.
 */
export class CoalescingMessage extends IncomingMessage {
  #hasChunk = false
  #waiting: Buffer | undefined
  #length = 0

  /** Bytes that have been parsed and were not read, which readableLength does not have all of. */
  get parsedLength(): number {
    return this.readableLength + this.#length
  }

  override push(chunk: Buffer | null): boolean {
    if (chunk !== null && this.#hasChunk && chunk.length < small) return this.#wait(chunk)
    this.#hasChunk = true
    this.#pass()
    return super.push(chunk)
  }

  #wait(chunk: Buffer): boolean {
    if (this.#waiting === undefined) {
      this.#waiting = Buffer.allocUnsafe(2 * small)
      // Node runs what is due on the next tick after every chunk.
      setImmediate(() => this.#pass())
    }
    const needed = this.#length + chunk.length
    if (needed > this.#waiting.length) this.#waiting = Buffer.concat([this.#waiting], 2 * this.#waiting.length)
    chunk.copy(this.#waiting, this.#length)
    this.#length = needed
    return this.parsedLength < this.readableHighWaterMark
  }

  /** Pushes the waiting bytes, unless the request has ended by then. */
  #pass(): void {
    const bytes = this.#waiting?.subarray(0, this.#length)
    this.#waiting = undefined
    this.#length = 0
    if (bytes !== undefined && !this.readableEnded && !this.destroyed) super.push(bytes)
  }
}
