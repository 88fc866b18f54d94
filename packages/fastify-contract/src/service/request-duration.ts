import type { Metric, MetricValueWithName, Registry } from 'prom-client'

/** Seconds, as the OpenTelemetry conventions recommend for http.server.request.duration. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

const name = 'http_server_request_duration_seconds'
const help =
  'Seconds from the head of a request to the end of its response; the status is none if no response was sent.'

type Labels = { operation: string; method: string; status: number | 'none' }

/**
 * Registers the histogram of request durations. Returns a function that creates the time series of some labels; the
 * function that it returns records the duration of one request. The histogram of prom-client is not used: it looks up
 * the labels for each value, which takes longer than all other metrics together.
 */
export function measureDurations(registry: Registry): (labels: Labels) => (seconds: number) => void {
  const all: (() => MetricValueWithName<string>[])[] = []
  const metric = { name, help, type: 'histogram', values: [] }
  const get = async () => ({ ...metric, values: all.flatMap((values) => values()) })
  registry.registerMetric({ ...metric, get } as unknown as Metric)
  return (labels) => {
    /** The count of each bucket; the last one has no upper bound. */
    const counts = new Array<number>(bounds.length + 1).fill(0)
    let sum = 0
    all.push(() => {
      let count = 0
      const buckets = counts.map((own, index) => {
        count += own
        return { metricName: `${name}_bucket`, labels: { le: bounds[index] ?? '+Inf', ...labels }, value: count }
      })
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ]
    })
    return (seconds) => {
      let bucket = 0
      while (bucket < bounds.length && seconds > (bounds[bucket] as number)) bucket++
      counts[bucket] = (counts[bucket] as number) + 1
      sum += seconds
    }
  }
}
