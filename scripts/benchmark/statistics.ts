/** Returns the median. For an even number of values it is the mean of the middle two. */
export const median = (values: number[]): number => quantile(values, 0.5)

/** Returns a quantile by linear interpolation between the two nearest sorted values. `share` is from 0 to 1. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = share * (sorted.length - 1)
  const below = sorted[Math.floor(place)] as number
  return below + (place % 1) * ((sorted[Math.ceil(place)] as number) - below)
}

/**
 * Returns the ratio of each round: the reference's value divided by the value, so that more is better. A busy machine
 * slows down both values of a round, so their ratio varies less than the values.
 */
export const ratios = (values: number[], references: number[]): number[] =>
  values.map((value, round) => (references[round] as number) / value)

/** Returns the items in random order. */
export function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}
