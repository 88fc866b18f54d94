import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from '../scenarios/built-service.ts'

/** Waits up to 60 seconds for the service to end without a signal; returns whether it did. */
export const exitsOnItsOwn = async ({ ended }: Service): Promise<boolean> =>
  await Promise.race([ended.then(() => true), sleep(60_000, false, { ref: false })])
