import { ContractError } from '../http/errors.ts'
import { type BodyMemory, smallBody } from '../http/read-body.ts'
import type { ByteSource } from '../http/tapped-stream.ts'
import { copyDigits, type JsonDocument } from '../json/json-document.ts'
import { setMember } from './scalar-values.ts'

/** The limits of the fields of a form: their bytes in total, and the memory budget that all bodies share. */
export type FieldLimits = { bytes: number; memory: BodyMemory }

/** Initial buffer size in bytes; the buffer doubles whenever it is full. */
const firstCapacity = 1_024

/** Counts what a form holds in memory. Both methods throw a ContractError if it exceeds the limit or the budget. */
export type FieldCollector = {
  /** Counts bytes that the form holds until it ends. */
  count(bytes: number): void
  /** Reads all bytes of a field and counts them. */
  collect(source: ByteSource): Promise<Buffer>
}

/** Returns the collector of one form. Its fields arrive one by one and count as a body until `over` resolves. */
export function fieldCollector({ bytes: limit, memory }: FieldLimits, over: Promise<void>): FieldCollector {
  let total = 0
  let counted = 0
  const check = (length: number): void => {
    if (length > limit) throw new ContractError('bodyTooLarge', `the fields of the form have more than ${limit} bytes`)
  }
  const count = (bytes: number): void => {
    check(total + bytes)
    total += bytes
    const more = total - counted
    if (more < smallBody) return
    // Each value is held twice: for the handler, and to validate the whole form.
    const refusal = memory.admit(2 * more, 2 * counted)
    if (refusal !== undefined) throw refusal
    void memory.during(2 * more, over)
    counted = total
  }
  const collect = async (source: ByteSource): Promise<Buffer> => {
    let held = Buffer.alloc(0)
    let length = 0
    try {
      for await (const chunk of source) {
        length += chunk.length
        check(total + length)
        if (length > held.length) {
          const capacity = Math.max(length, 2 * held.length, firstCapacity)
          const refusal = memory.take(capacity - held.length, held.length)
          if (refusal !== undefined) throw refusal
          held = Buffer.concat([held.subarray(0, length - chunk.length)], capacity)
        }
        chunk.copy(held, length - chunk.length)
      }
      count(length)
      return held.subarray(0, length)
    } finally {
      memory.release(held.length)
    }
  }
  return { count, collect }
}

/** Copies a member of one document to another, with the digits of its numbers. */
export function copyMember(
  from: JsonDocument,
  name: string,
  document: JsonDocument,
  holder: object,
  key: string | number,
): void {
  copyDigits(from, from.value as object, document, holder, key)
  setMember(holder, key, (from.value as Record<string, unknown>)[name])
}
