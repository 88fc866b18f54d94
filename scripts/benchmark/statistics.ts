/** Returns the median. For an even number of values it is the mean of the middle two. */
export const median = (values: number[]): number => quantile(values, 0.5)

/** Returns a quantile by linear interpolation between the two nearest sorted values. `share` is from 0 to 1. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = share * (sorted.length - 1)
  const below = sorted[Math.floor(place)] as number
  return below + (place % 1) * ((sorted[Math.ceil(place)] as number) - below)
}

/** Returns the items in random order. */
export function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}
