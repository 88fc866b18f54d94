/** Returns the median. For an even number of values it is the mean of the middle two. */
export const median = (values: number[]): number => quantile(values, 0.5)

/** Returns the first and the third quartile. */
export const quartiles = (values: number[]): [first: number, third: number] => [
  quantile(values, 0.25),
  quantile(values, 0.75),
]

/** Returns a quantile by linear interpolation between the two nearest sorted values. `share` is from 0 to 1. */
function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = share * (sorted.length - 1)
  const below = sorted[Math.floor(place)] as number
  return below + (place % 1) * ((sorted[Math.ceil(place)] as number) - below)
}

/**
 * Returns the median of each round's ratio to the reference. A busy machine slows down both values of a round, so their
 * ratio varies less than the values.
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
