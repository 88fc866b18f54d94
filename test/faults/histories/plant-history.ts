/** A create of one id. Times are of one monotonic clock, before the request was sent and after its answer was read. */
export type Create = {
  /** 200, 409, or no answer that tells: the create may then happen at any time after its start, or never. */
  outcome: 'kept' | 'conflict' | 'unknown'
  /** The name and the tag, as a text that is equal for equal plants only. */
  content: string
  start: number
  end: number
}

/** A look at what is stored under an id; its content is undefined when there is nothing. */
export type Read = { outcome: 'read'; content: string | undefined; start: number; end: number }

/** What happened to one id, in any order. */
export type History = (Create | Read)[]

/**
 * Returns why the history of an id is not linearizable, undefined when it is. The specification is a register that is
 * set once: the first create sets it, a later one is kept when it has the same content and conflicts otherwise. Every
 * operation must take effect at one moment between its start and its end.
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
 * One moment has to be found at which the register was set to `content`: not before a create of it had begun, not
 * before a read that found nothing, and before the end of all that shows it set. Such a moment is enough: each other
 * operation has a moment of its own before or after it, and a create without an answer need not have happened.
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
