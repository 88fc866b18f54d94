import type { CreateOutcome, PlantStore, StoredPlant } from '../store/open.ts'

/** Milliseconds between two looks at the store. All that follows is counted in looks. */
const interval = 1_000

/** After so long without a commit the store is probed: each probe syncs the disk, so an idle store costs 12 syncs a minute. */
const idle = 5
/** A probe without an answer counts as failed from then on, and is no longer waited for. */
const [late, abandoned] = [2, 10]
/** The service becomes unready after so many looks with failed creates, even if probes succeed. */
const enough = 5
/** After so long without a failed create, a probe is believed again. */
const calm = 10

export type StoreHealth = {
  /** Creates a plant in the store, and observes the outcome. */
  create: PlantStore['create']
  /** Resolves when the first probe has its answer, or is late. */
  known: Promise<void>
  /** Returns why creates would fail now, undefined when they would not. */
  reason(): string | undefined
  /** Ends the probes. */
  close(): void
}

/**
 * Derives readiness from creates and probes. A new plant proves that the store is ready. Two failures in a row, of which one
 * is a probe's, or repeated failures of creates in spite of good probes make it unready. Then it is probed until a probe or a
 * create succeeds. One failure changes nothing, and neither does an identical plant, for which no store need write.
 *
 * @param changed Is told the reason when creates begin to fail, and undefined when they succeed again.
 */
export function watchStore(store: PlantStore, changed: (reason: string | undefined) => void): StoreHealth {
  let now = 0
  let reason: string | undefined = 'starting'
  let told = true
  /** Failures since the last success: of probes, and whether a create failed. */
  let missed = 0
  let doubted = false
  /** The looks at which creates failed, one after the other without a new plant, and the last of them. */
  let strikes = 0
  let struck = Number.NEGATIVE_INFINITY
  /** Whether there was a new plant since the last look, and the look of the last success. */
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

  /** At most one strike a look: whatever fails together is one error. */
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
      miss((error as Error).message)
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
      if (waited >= late) miss(`no answer within ${late * interval} ms`)
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
    // Any other error is that of one plant, which gets a 500.
    if (error.retryAfter !== undefined) strike(error.message)
    throw error
  }

  const looking = setInterval(look, interval).unref()
  void ask()
  const create = (plant: StoredPlant) => store.create(plant).then(observe, observeFailure)
  return { create, known, reason: () => reason, close: () => clearInterval(looking) }
}
