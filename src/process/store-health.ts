import type { CreateOutcome, PlantStore, StoredPlant } from '../store/open.ts'

/** Milliseconds between two checks of the store. The following values are numbers of checks. */
const interval = 1_000

/** The store is probed after this long without a commit. A probe syncs the disk: 12 times a minute on an idle store. */
const idle = 5
/** A pending probe counts as failed after `late`. After `abandoned` a new one is sent. */
const [late, abandoned] = [2, 10]
/** The service becomes unready after this many checks with failed creates, even if probes succeed. */
const enough = 5
/** After `enough` such checks, a successful probe counts only after this long without a failed create. */
const calm = 10

export type StoreHealth = {
  /** Creates a plant in the store and observes the outcome. */
  create: PlantStore['create']
  /** Resolves when the first probe has completed or is late. */
  known: Promise<void>
  /** Returns why creates currently fail; undefined if they succeed. */
  reason(): string | undefined
  /** Stops the probes. */
  close(): void
}

/**
 * Derives readiness from creates and probes. A new plant proves that the store is ready. The store becomes unready
 * after two failures in a row, at least one of them a probe, or after repeated failures of creates despite successful
 * probes. It is then probed until a probe or a create succeeds. A single failure changes nothing, and neither does an
 * identical plant, since no store has to write for it.
 *
 * @param changed Called with the reason when creates start to fail, and with undefined when they succeed again.
 */
export function watchStore(store: PlantStore, changed: (reason: string | undefined) => void): StoreHealth {
  let now = 0
  let reason: string | undefined = 'starting'
  let told = true
  /** Since the last success: the number of failed probes, and whether a create failed. */
  let missed = 0
  let doubted = false
  /** The number of checks with failed creates since the last new plant, and the latest of these checks. */
  let strikes = 0
  let struck = Number.NEGATIVE_INFINITY
  /** Whether a plant was created since the last check, and the check of the last success. */
  let created = false
  let proven = 0
  let probe: { since: number } | undefined
  let know: () => void
  const known = new Promise<void>((resolve) => {
    know = resolve
  })

  function succeed(): void {
    missed = 0
    doubted = false
    proven = now
    if (strikes >= enough && now - struck < calm) return
    if (reason !== undefined) strikes = 0
    reason = undefined
    tell(true)
  }

  function fail(message: string): void {
    reason = message
    tell(false)
  }

  function tell(good: boolean): void {
    know()
    if (told === good) return
    told = good
    changed(reason)
  }

  function miss(message: string): void {
    missed++
    if (reason !== undefined || doubted || missed > 1) fail(message)
  }

  /** Counts a failed create, at most one for each check: creates that fail together have one cause. */
  function strike(message: string): void {
    doubted = true
    if (now === struck) return
    strikes = now - struck < calm ? strikes + 1 : 1
    struck = now
    if (missed > 0 || strikes >= enough) fail(message)
    else if (probe === undefined) void ask()
  }

  async function ask(): Promise<void> {
    const own = { since: now }
    probe = own
    try {
      await store.ready()
      succeed()
    } catch (error) {
      // The store of a module may reject with any value.
      miss(error instanceof Error ? error.message : String(error))
    }
    if (probe === own) probe = undefined
  }

  function look(): void {
    now++
    if (created) {
      created = false
      proven = now
      probe = undefined
      return
    }
    if (probe !== undefined) {
      const waited = now - probe.since
      if (waited >= late) miss(`the store did not respond within ${late * interval} ms`)
      if (waited < abandoned) return
    }
    if (reason !== undefined || missed > 0 || now - proven >= idle) void ask()
  }

  function observe(outcome: CreateOutcome): CreateOutcome {
    if (outcome === 'created') {
      created = true
      if (reason !== undefined || missed > 0 || doubted || strikes > 0) {
        strikes = 0
        succeed()
      }
    }
    return outcome
  }

  function observeFailure(error: Error & { retryAfter?: number }): never {
    // An error without retryAfter concerns one plant only, and becomes a 500.
    if (error.retryAfter !== undefined) strike(error.message)
    throw error
  }

  const looking = setInterval(look, interval).unref()
  void ask()
  const create = (plant: StoredPlant) => store.create(plant).then(observe, observeFailure)
  return { create, known, reason: () => reason, close: () => clearInterval(looking) }
}
