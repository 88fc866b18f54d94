/** Takes points of time and value; gives by how much the value grows in a unit of time, by least squares. */
export function slope(points: [time: number, value: number][]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const time = mean(points.map(([each]) => each))
  const value = mean(points.map(([, each]) => each))
  const covariance = mean(points.map(([t, v]) => (t - time) * (v - value)))
  return covariance / mean(points.map(([t]) => (t - time) ** 2))
}
