import type { CreateOutcome, PlantStore, StoredPlant } from './open.ts'

/** Milliseconds between two checks of the store. The following values are numbers of checks. */
const interval = 1_000

/** The store is probed after this many checks without a new plant: an idle disk gets 12 syncs a minute. */
const idleChecks = 5
/** A pending probe or create counts as failed after `late` checks. After `abandoned` checks a new one is sent. */
const [late, abandoned] = [2, 10]
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
 * after two failures in a row, at least one of them a probe, or after repeated failures of writes despite successful
 * probes. It is then probed until a probe or a write succeeds. A single failure changes nothing, and neither does an
 * identical plant, since no store has to write for it.
 *
 * @param onChange Called with the reason when writes start to fail, and with undefined when they succeed again.
 */
export function watchStore(store: PlantStore, onChange: (reason: string | undefined) => void): StoreHealth {
  /** The number of checks so far, which is the clock of the values below. */
  let now = 0
  let reason: string | undefined = 'starting'
  let reportedHealthy = true
  /** Since the last success: the number of failed probes, and whether a write failed. */
  let failedProbes = 0
  let createFailed = false
  /** The number of checks with failed writes since the last new plant, and the latest of these checks. */
  let failedChecks = 0
  let lastFailedCheck = Number.NEGATIVE_INFINITY
  /** Whether a plant was created since the last check, and the check of the last success. */
  let created = false
  let lastSuccess = 0
  let probe: { since: number } | undefined
  /** The number of pending writes, whether one ended since the last check, and the checks since the last one ended. */
  let pending = 0
  let ended = false
  let quietChecks = 0
  let resolveKnown: () => void
  const known = new Promise<void>((resolve) => {
    resolveKnown = resolve
  })

  function succeed(): void {
    failedProbes = 0
    createFailed = false
    lastSuccess = now
    if (failedChecks >= maxFailedChecks && now - lastFailedCheck < recoveryChecks) return
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
    failedProbes++
    if (reason !== undefined || createFailed || failedProbes > 1) fail(message)
  }

  /** Counts a failed write, at most one for each check: writes that fail together have one cause. */
  function countFailedCreate(message: string): void {
    createFailed = true
    if (now === lastFailedCheck) return
    failedChecks = now - lastFailedCheck < recoveryChecks ? failedChecks + 1 : 1
    lastFailedCheck = now
    if (failedProbes > 0 || failedChecks >= maxFailedChecks) fail(message)
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
    quietChecks = pending > 0 && !ended ? quietChecks + 1 : 0
    ended = false
    if (quietChecks >= late) createFailed = true
    if (created) {
      created = false
      lastSuccess = now
      probe = undefined
      return
    }
    if (probe !== undefined) {
      const waited = now - probe.since
      if (waited >= late) probeFailed(`the store did not respond within ${late * interval} ms`)
      if (waited < abandoned) return
    }
    if (reason !== undefined || failedProbes > 0 || quietChecks >= late || now - lastSuccess >= idleChecks)
      void sendProbe()
  }

  function observe(outcome: CreateOutcome): CreateOutcome {
    end()
    if (outcome === 'created') {
      created = true
      if (reason !== undefined || failedProbes > 0 || createFailed || failedChecks > 0) {
        failedChecks = 0
        succeed()
      }
    }
    return outcome
  }

  function observeFailure(error: Error & { retryAfter?: number }): never {
    end()
    // An error without retryAfter concerns one plant only, and becomes a 500.
    if (error.retryAfter !== undefined) countFailedCreate(error.message)
    throw error
  }

  function end(): void {
    pending--
    ended = true
  }

  const timer = setInterval(check, interval).unref()
  void sendProbe()
  const create = (plant: StoredPlant) => {
    pending++
    return store.create(plant).then(observe, observeFailure)
  }
  return { create, known, reason: () => reason, close: () => clearInterval(timer) }
}
