/** Returns a function that cycles through `count` ids, so that the server's Map stops growing. */
export function cyclingIds(count: number): () => number {
  let last = 0
  return () => {
    last = (last + 1) % count
    return last
  }
}

/** Returns a function that counts up from 1, so that each plant is new. */
export function increasingIds(): () => number {
  let last = 0
  return () => ++last
}
