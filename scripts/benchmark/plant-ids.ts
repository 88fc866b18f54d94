/** Cycles through a few ids, so that the server's Map does not grow and each answer is a 200. */
export function cyclingIds(count: number): () => number {
  let last = 0
  return () => {
    last = (last + 1) % count
    return last
  }
}

/** Counts up from 1, so that each plant is new. */
export function growingIds(): () => number {
  let last = 0
  return () => ++last
}
