import { ContractError } from '../http/errors.ts'
import { type BodyMemory, smallBody } from '../http/read-body.ts'
import type { ByteSource } from '../http/tapped-stream.ts'
import type { JsonDocument } from '../json/json-document.ts'
import { keepDigits } from '../json/json-document.ts'
import { setMember } from './text-scalars.ts'

/** What bounds the fields of a form: bytes of all together, and the memory that bodies share. */
export type FieldLimits = { bytes: number; memory: BodyMemory }

/** Bytes at first; doubled whenever they are full. */
const firstCapacity = 1_024

/**
 * Returns what reads the bytes of fields whole, one after the other. It rejects with a ContractError when all of them are
 * too large, or when there is no room for them. Their values count as those of a body until `over` resolves.
 */
export function fieldCollector({ bytes: limit, memory }: FieldLimits, over: Promise<void>) {
  let total = 0
  let counted = 0
  const count = (): void => {
    const more = total - counted
    if (more < smallBody) return
    // A value is there twice: for the handler, and for the schema of the whole form.
    const refusal = memory.admit(2 * more)
    if (refusal !== undefined) throw refusal
    void memory.during(2 * more, () => over)
    counted = total
  }
  return async (source: ByteSource): Promise<Buffer> => {
    let held = Buffer.alloc(0)
    let length = 0
    try {
      for await (const chunk of source) {
        length += chunk.length
        if (total + length > limit) throw new ContractError('bodyTooLarge', 'the fields of the form are too large')
        if (length > held.length) {
          const capacity = Math.max(length, 2 * held.length, firstCapacity)
          const refusal = memory.take(capacity - held.length, held.length)
          if (refusal !== undefined) throw refusal
          held = Buffer.concat([held.subarray(0, length - chunk.length)], capacity)
        }
        chunk.copy(held, length - chunk.length)
      }
      total += length
      count()
      return held.subarray(0, length)
    } finally {
      memory.release(held.length)
    }
  }
}

/** Sets a member of one document in another, with the digits of its numbers. */
export function moveMember(
  from: JsonDocument,
  name: string,
  document: JsonDocument,
  holder: object,
  key: string | number,
): void {
  for (const [at, digits] of from.digits ?? []) {
    for (const [place, text] of digits) {
      if (at === from.value) keepDigits(document, holder, key, text)
      else keepDigits(document, at, place, text)
    }
  }
  setMember(holder, key, (from.value as Record<string, unknown>)[name])
}
