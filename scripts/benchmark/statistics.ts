/** Returns the median; of an even count, the greater of the middle two. */
export const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number

/**
 * Returns the median of each round's own ratio to the reference: a busy machine slows down both values of a round, so
 * their ratio varies less than they do.
 */
export const medianRatio = (values: number[], references: number[]) =>
  median(values.map((value, round) => value / (references[round] as number)))

/** Returns the slope of the least squares line through the points, in values per unit of time. */
export function slope(points: [time: number, value: number][]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const time = mean(points.map(([each]) => each))
  const value = mean(points.map(([, each]) => each))
  const covariance = mean(points.map(([t, v]) => (t - time) * (v - value)))
  return covariance / mean(points.map(([t]) => (t - time) ** 2))
}

/** Returns the items in random order. */
export function shuffled<Item>(items: Item[]): Item[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}
