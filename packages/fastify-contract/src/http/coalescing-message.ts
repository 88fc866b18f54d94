import { IncomingMessage } from 'node:http'

/** Bytes. Smaller chunks are copied into one buffer, because the Buffer object of each costs about 250 bytes. */
const small = 1_024

/**
 * A request whose body takes about its size in memory even if its chunks are small. Node.js parses up to 64 KiB of a
 * connection at once and creates an object of about 250 bytes for each chunk. This class merges the small chunks of one
 * parse, except the first, which is usually the only one.
 */
export class CoalescingMessage extends IncomingMessage {
  #hasChunk = false
  #waiting: Buffer | undefined
  #length = 0

  /** Bytes that were parsed and not yet read. readableLength lacks the bytes that wait to be merged. */
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
      // process.nextTick would be too early: Node.js runs its callbacks after every chunk.
      setImmediate(() => this.#pass())
    }
    const needed = this.#length + chunk.length
    if (needed > this.#waiting.length) this.#waiting = Buffer.concat([this.#waiting], 2 * this.#waiting.length)
    chunk.copy(this.#waiting, this.#length)
    this.#length = needed
    return this.parsedLength < this.readableHighWaterMark
  }

  /** Pushes the waiting bytes, unless the request has ended. */
  #pass(): void {
    const bytes = this.#waiting?.subarray(0, this.#length)
    this.#waiting = undefined
    this.#length = 0
    if (bytes !== undefined && !this.readableEnded && !this.destroyed) super.push(bytes)
  }
}
