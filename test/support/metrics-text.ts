import { channel } from 'node:diagnostics_channel'
import { errorNumbers } from '../../generated/error-numbers.ts'
import { createMetrics } from '../../packages/fastify-contract/src/service/metrics.ts'
import { measureStore } from '../../src/store/store-metrics.ts'

/** Returns the text of /metrics, in Prometheus' format, after an event of each kind. */
export async function metricsText(): Promise<string> {
  const metrics = createMetrics({ '': '1.0.0' }, 'plant_store')
  measureStore(metrics.registry)
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
    rejection: 'missingToken',
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

/** Returns the set of all first captures of a pattern in texts. */
export const captured = (texts: string[], pattern: RegExp): Set<string> =>
  new Set(texts.flatMap((text) => Array.from(text.matchAll(pattern), ([, found]) => found as string)))
