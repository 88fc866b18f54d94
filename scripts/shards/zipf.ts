/**
 * Returns a function that maps a number from 0 to below 1 to the rank, from 0, of one of `count` keys. The probability
 * of rank n is proportional to 1/(n+1)^skew (Zipf's law).
 */
export function zipfRanks(count: number, skew: number): (fraction: number) => number {
  const sums = new Float64Array(count)
  let sum = 0
  for (let rank = 0; rank < count; rank++) {
    sum += 1 / (rank + 1) ** skew
    sums[rank] = sum
  }
  return (fraction) => {
    const wanted = fraction * sum
    let [low, high] = [0, count - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sums[middle] as number) > wanted) high = middle
      else low = middle + 1
    }
    return low
  }
}
