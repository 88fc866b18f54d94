import { channel } from 'node:diagnostics_channel'
import { errorNumbers } from '../../generated/error-numbers.ts'
import { createMetrics } from '../../src/observability/metrics.ts'

/** Returns what /metrics shows, in Prometheus' text format, of a service that has each of its figures. */
export async function metricsText(): Promise<string> {
  const metrics = createMetrics({ version: '1.0.0' })
  metrics.begin()
  metrics.end({
    id: 'a',
    trace: undefined,
    method: 'POST',
    operation: 'createPlant',
    client: undefined,
    address: undefined,
    status: 401,
    error: errorNumbers.missingToken,
    refusal: 'missingToken',
    started: 0,
    duration: 1,
  })
  metrics.tokens(true)
  metrics.ready(true)
  channel('plant-store:sqlite-journal').publish({ bytes: 1 })
  const text = await metrics.text()
  metrics.close()
  return text
}

/** Returns all that a pattern captures in texts. */
export const captured = (texts: string[], pattern: RegExp): Set<string> =>
  new Set(texts.flatMap((text) => Array.from(text.matchAll(pattern), ([, found]) => found as string)))
