import type { Schema } from 'fastify-contract/contract'

/** What is added to a number, so that it is none that a server counts up to soon. */
const steps = [4_711, 815, -4_711, 3, -3]

/** Returns values of the type of a scalar that differ from it. Some may not be valid under its schemas. */
export function otherValues(value: unknown, schemas: Schema[]): unknown[] {
  const listed = schemas.flatMap((schema) => (Object(schema) as { enum?: unknown[] }).enum ?? [])
  if (listed.length > 0) return listed
  if (typeof value === 'boolean') return [!value, value]
  if (typeof value === 'bigint') return steps.map((step) => value + BigInt(step))
  if (typeof value === 'number') return steps.map((step) => value + step)
  if (typeof value !== 'string') return []
  const instant = Date.parse(value)
  const isTime = /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(instant)
  if (isTime) return [1, 2].map((days) => new Date(instant - days * 86_400_000).toISOString())
  return [...rotations].map((rotate) => rotate(value)).filter((text) => text !== value)
}

/** Ways to replace the digits of a text by others; in a UUID, after those of its version. */
const rotations = [1, 2, 3].map((by) => (text: string) => {
  const at = Math.max(text.lastIndexOf('-') + 1, text.lastIndexOf('/') + 1)
  const tail = text.slice(at).replace(/[\da-f]/g, (digit) => ((Number.parseInt(digit, 16) + by) % 10).toString())
  return text.slice(0, at) + tail
})
