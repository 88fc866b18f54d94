/** The same few plants again and again: the server's Map stays as it is, and each answer is a 200. */
export function cyclingIds(count: number): () => number {
  let last = 0
  return () => {
    last = (last + 1) % count
    return last
  }
}

/** Each plant is a new one. */
export function growingIds(): () => number {
  let last = 0
  return () => ++last
}
