import { until } from 'fastify-contract-test-support/poll'
import type { ServiceProcess } from './service-process.ts'

/** Returns the value of plant_store_ready in /metrics. */
export async function readyMetric({ page }: Pick<ServiceProcess, 'page'>): Promise<string | undefined> {
  return /^plant_store_ready (\d)$/m.exec((await page('/metrics')).body)?.[1]
}

/** Resolves once plant_store_ready has the given value. */
export const readyBecomes = (service: Pick<ServiceProcess, 'page'>, value: string) =>
  until(async () => (await readyMetric(service)) === value, `plant_store_ready ${value}`)

/** Returns the log messages about readiness. */
export const readinessLog = ({ output }: Pick<ServiceProcess, 'output'>): string[] =>
  Array.from(output.stdout.matchAll(/"msg":"(store (?:accepts|rejects) [^"]*)"/g), ([, message = '']) => message)
