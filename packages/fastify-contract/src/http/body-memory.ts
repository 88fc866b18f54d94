import { IncomingMessage } from 'node:http'
import { type ContractError, overloaded } from '../contract/errors.ts'

/** Bytes. The parsed values of smaller bodies are not counted: the limit on concurrent requests bounds their memory. */
export const smallBody = 1_024

/** In V8 a parsed body takes up to this many times the size of its text: `{"25":0}` takes 32 times, most bodies 3. */
const valueFactor = 32

/** Accounts for the memory of request bodies. */
export type BodyMemory = ReturnType<typeof bodyMemory>

/**
 * Creates two memory budgets of `limit` bytes each: one for bodies that arrive, and one for parsed bodies. Calls `shed`
 * for each rejected body. A body is never rejected while it is the only one.
 */
export function bodyMemory(limit: number, shed: () => void) {
  let arriving = 0
  let values = 0
  const rejection = (): ContractError => {
    shed()
    return overloaded('the service has no memory left for the body')
  }
  return {
    /**
     * Reserves memory for `bytes` more of a body that has already reserved `held`. Returns an error if there is not
     * enough left.
     */
    reserve(bytes: number, held: number): ContractError | undefined {
      if (arriving > held && arriving + bytes > limit) return rejection()
      arriving += bytes
      return undefined
    },
    /** Releases reserved memory. */
    release(bytes: number): void {
      arriving -= bytes
    },
    /**
     * Returns an error if the parsed value of `bytes` more of a body does not fit beside the values that `hold` counts.
     * Of these, `held` bytes belong to the same body. The caller of the handler calls `hold`.
     */
    checkFits(bytes: number, held = 0): ContractError | undefined {
      const isAlone = values === valueFactor * held
      const fits = bytes < smallBody || isAlone || values + valueFactor * bytes <= limit
      return fits ? undefined : rejection()
    },
    /** Counts the parsed value of a body until a promise settles, and returns that promise. */
    hold<Value>(bytes: number, until: Promise<Value>): Promise<Value> {
      if (bytes < smallBody) return until
      values += valueFactor * bytes
      const release = () => {
        values -= valueFactor * bytes
      }
      until.then(release, release)
      return until
    },
  }
}

/** Initial size of a buffer in bytes; it doubles whenever it is full. */
const firstCapacity = 4_096

/**
 * A buffer for bytes that arrive in chunks: a list of chunks would cost 250 bytes for each, which may hold one byte.
 */
export class GrowingBuffer {
  #buffer = Buffer.alloc(0)
  #length = 0
  readonly #memory: BodyMemory | undefined
  readonly #limit: number

  /** The buffer reserves its size in `memory`, and does not grow beyond `limit` bytes. */
  constructor(memory?: BodyMemory, limit = Number.POSITIVE_INFINITY) {
    this.#memory = memory
    this.#limit = limit
  }

  get length(): number {
    return this.#length
  }

  /** The bytes that were added, without a copy. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  /** Adds a chunk. Returns an error if the memory budget is exceeded. */
  add(chunk: Buffer): ContractError | undefined {
    const needed = this.#length + chunk.length
    const { length } = this.#buffer
    if (needed > length) {
      const capacity = Math.min(this.#limit, Math.max(2 * needed, firstCapacity))
      const rejection = this.#memory?.reserve(capacity - length, length)
      if (rejection !== undefined) return rejection
      const { bytes } = this
      // Without zeros: only the bytes that were added are read.
      this.#buffer = Buffer.allocUnsafeSlow(capacity)
      bytes.copy(this.#buffer)
    }
    chunk.copy(this.#buffer, this.#length)
    this.#length = needed
    return undefined
  }

  /** Releases the reserved memory. */
  release(): void {
    this.#memory?.release(this.#buffer.length)
  }
}

/** Bytes. Smaller chunks are copied into one buffer, because the Buffer object of each costs about 250 bytes. */
const small = 1_024

/**
 * A request whose body takes about its size in memory even if its chunks are small. Node.js parses up to 64 KiB of a
 * connection at once and creates an object of about 250 bytes for each chunk. This class merges the small chunks of one
 * parse. The first chunk of a request, which is usually the only one, is passed on at once.
 */
export class CoalescingMessage extends IncomingMessage {
  #hasChunk = false
  #waiting: GrowingBuffer | undefined

  /** Bytes that were parsed and not yet read. readableLength lacks the bytes that wait to be merged. */
  get parsedLength(): number {
    return this.readableLength + (this.#waiting?.length ?? 0)
  }

  override push(chunk: Buffer | null): boolean {
    if (chunk !== null && this.#hasChunk && chunk.length < small) return this.#wait(chunk)
    this.#hasChunk = true
    this.#pass()
    return super.push(chunk)
  }

  #wait(chunk: Buffer): boolean {
    if (this.#waiting === undefined) {
      this.#waiting = new GrowingBuffer()
      // process.nextTick would be too early: Node.js runs its callbacks after every chunk.
      setImmediate(() => this.#pass())
    }
    this.#waiting.add(chunk)
    return this.parsedLength < this.readableHighWaterMark
  }

  /** Pushes the waiting bytes, unless the request has ended. */
  #pass(): void {
    const bytes = this.#waiting?.bytes
    this.#waiting = undefined
    if (bytes !== undefined && !this.readableEnded && !this.destroyed) super.push(bytes)
  }
}
