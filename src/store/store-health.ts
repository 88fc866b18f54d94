import type { CreateOutcome, PlantStore, StoredPlant } from './plant-store.ts'

/** Milliseconds between two checks of the store. The following values are numbers of checks. */
const interval = 1_000

/** The store is probed after this many checks without a new plant: an idle disk gets 12 syncs a minute. */
const idleChecks = 5
/**
 * A pending probe counts as one failure at each check from `lateChecks` on. If creates are pending and none has ended for
 * `lateChecks` checks, that counts as one failed write, but not towards `maxFailedChecks`.
 */
const lateChecks = 2
/** Another probe is sent when one is pending for this many checks. */
const abandonedChecks = 10
/** The service becomes unready after this many checks with failed writes, even if probes succeed. */
const maxFailedChecks = 5
/** After `maxFailedChecks`, a successful probe counts only after this many checks without a failed write. */
const recoveryChecks = 10

export type StoreHealth = {
  /** Creates a plant in the store and observes the outcome. */
  create: PlantStore['create']
  /** Resolves when the first probe has completed or is late. */
  known: Promise<void>
  /** Returns why writes currently fail; undefined if they succeed. */
  reason(): string | undefined
  /** Stops the probes. */
  close(): void
}

/**
 * Derives readiness from writes and probes. A new plant proves that the store is ready. The store becomes unready
 * after two failures in a row, at least one of them of a probe, or after repeated failures of writes despite successful
 * probes. It is then probed until a probe or a write succeeds. A single failure changes nothing, but a probe that hangs
 * fails again at each check. An identical plant changes nothing, since no store has to write for it.
 *
 * @param onChange Called with the reason when writes start to fail, and with undefined when they succeed again.
 */
export function watchStore(store: PlantStore, onChange: (reason: string | undefined) => void): StoreHealth {
  /** The number of checks so far, which is the clock of the values below. */
  let now = 0
  let reason: string | undefined = 'starting'
  /** Initially true, so that the first success is not reported as a recovery. */
  let reportedHealthy = true
  /** Failures of probes since the last success. */
  let probeFailures = 0
  /** Whether a create failed since the last success. */
  let createFailed = false
  /** The number of checks with failed creates. A recovery and `recoveryChecks` without a failure restart the count. */
  let failedChecks = 0
  let lastFailedCheck = Number.NEGATIVE_INFINITY
  /** Whether a plant was created since the last check. */
  let plantCreated = false
  /** The check of the last success. */
  let lastSuccess = 0
  let probe: { since: number } | undefined
  let pendingCreates = 0
  /** Whether a create ended since the last check. */
  let createEnded = false
  /** The number of checks for which creates are pending and none has ended. */
  let quietChecks = 0
  let resolveKnown: () => void
  const known = new Promise<void>((resolve) => {
    resolveKnown = resolve
  })

  function succeed(): void {
    probeFailures = 0
    createFailed = false
    lastSuccess = now
    // A successful probe does not outweigh recent failures of creates.
    if (failedChecks >= maxFailedChecks && now - lastFailedCheck < recoveryChecks) return
    // While the service is ready, a successful probe does not reset the count: probes succeed between creates that fail.
    if (reason !== undefined) failedChecks = 0
    reason = undefined
    report(true)
  }

  function fail(message: string): void {
    reason = message
    report(false)
  }

  function report(healthy: boolean): void {
    resolveKnown()
    if (reportedHealthy === healthy) return
    reportedHealthy = healthy
    onChange(reason)
  }

  function probeFailed(message: string): void {
    probeFailures++
    if (reason !== undefined || createFailed || probeFailures > 1) fail(message)
  }

  /** Counts a failed write, at most one for each check: writes that fail together have one cause. */
  function countFailedCreate(message: string): void {
    createFailed = true
    if (now === lastFailedCheck) return
    failedChecks = now - lastFailedCheck < recoveryChecks ? failedChecks + 1 : 1
    lastFailedCheck = now
    if (probeFailures > 0 || failedChecks >= maxFailedChecks) fail(message)
    else if (probe === undefined) void sendProbe()
  }

  async function sendProbe(): Promise<void> {
    const own = { since: now }
    probe = own
    try {
      await store.ready()
      succeed()
    } catch (error) {
      // The store of a module may reject with any value.
      probeFailed(error instanceof Error ? error.message : String(error))
    }
    if (probe === own) probe = undefined
  }

  function check(): void {
    now++
    quietChecks = pendingCreates > 0 && !createEnded ? quietChecks + 1 : 0
    createEnded = false
    if (quietChecks >= lateChecks) createFailed = true
    if (plantCreated) {
      plantCreated = false
      lastSuccess = now
      probe = undefined
      return
    }
    if (probe !== undefined) {
      const waited = now - probe.since
      if (waited >= lateChecks) probeFailed(`the store did not respond within ${lateChecks * interval} ms`)
      if (waited < abandonedChecks) return
    }
    if (reason !== undefined || probeFailures > 0 || quietChecks >= lateChecks || now - lastSuccess >= idleChecks)
      void sendProbe()
  }

  function observe(outcome: CreateOutcome): CreateOutcome {
    end()
    if (outcome === 'created') {
      plantCreated = true
      if (reason !== undefined || probeFailures > 0 || createFailed || failedChecks > 0) {
        failedChecks = 0
        succeed()
      }
    }
    return outcome
  }

  function observeFailure(error: Error & { retryAfter?: number }): never {
    end()
    // An error without retryAfter concerns one plant only, and becomes a 500. A module's store need not use Unavailable.
    if (error.retryAfter !== undefined) countFailedCreate(error.message)
    throw error
  }

  function end(): void {
    pendingCreates--
    createEnded = true
  }

  const timer = setInterval(check, interval).unref()
  void sendProbe()
  const create = (plant: StoredPlant) => {
    pendingCreates++
    return store.create(plant).then(observe, observeFailure)
  }
  return { create, known, reason: () => reason, close: () => clearInterval(timer) }
}
