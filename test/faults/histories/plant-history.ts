/** A write of one id. `start` precedes the request and `end` follows the response, on one monotonic clock. */
export type Create = {
  /** 200, 409, or unknown: then the write may take effect at any time after its start, or never. */
  outcome: 'kept' | 'conflict' | 'unknown'
  /** Name and tag as a text that is equal only for equal plants. */
  content: string
  start: number
  end: number
}

/** A read of what is stored under an id; its content is undefined when nothing is. */
export type Read = { outcome: 'read'; content: string | undefined; start: number; end: number }

/** All operations on one id, in any order. */
export type History = (Create | Read)[]

/**
 * Returns the reason why the history of an id is not linearizable, or undefined when it is. The model is a register
 * that is set once: the first write sets it; a later write is kept when its content is the same and conflicts
 * otherwise. Every operation must take effect at one moment between its start and its end.
 */
export function linearizabilityViolation(history: History): string | undefined {
  const seen = new Set(history.flatMap((operation) => (isSeen(operation) ? [operation.content] : [])))
  if (seen.size > 1) return 'two contents were kept'
  if (seen.size === 0 && !history.some(isConflict)) return undefined
  const sent = new Set(history.flatMap(({ outcome, content }) => (outcome === 'unknown' ? [content] : [])))
  const reasons = [...(seen.size === 1 ? seen : sent)].map((content) => whyNotSetTo(content, history))
  if (reasons.includes(undefined)) return undefined
  return reasons[0] ?? 'a conflict with nothing'
}

const isSeen = ({ outcome, content }: Create | Read) =>
  outcome === 'kept' || (outcome === 'read' && content !== undefined)

const isConflict = ({ outcome }: Create | Read) => outcome === 'conflict'

/**
 * Returns undefined when the register can have been set to `content` at one moment: after the start of a write of that
 * content, after the start of every read that found nothing, and before the first end of an operation that saw it set.
 * Such a moment suffices: every other operation can take effect before or after it, and an unknown create need not have
 * taken effect.
 */
function whyNotSetTo(content: string | undefined, history: History): string | undefined {
  const creates = history.filter((operation) => operation.outcome !== 'read' && operation.content === content)
  if (creates.some(isConflict)) return 'a conflict with the same content'
  const empty = history.filter(({ outcome, content }) => outcome === 'read' && content === undefined)
  const effects = history.filter((operation) => isSeen(operation) || isConflict(operation))
  const begun = Math.min(...creates.map(({ start }) => start))
  const lastEmpty = Math.max(...empty.map(({ start }) => start))
  const firstEffect = Math.min(...effects.map(({ end }) => end))
  if (creates.length === 0) return 'content that no create had'
  if (begun > firstEffect) return 'an effect before its create began'
  return lastEmpty > firstEffect ? 'kept, and missing later' : undefined
}
