/** Values of series by name, in the notation of `promtool test rules`: first value, increment, number of 15 s steps. */
export type Series = Record<string, string>

type Case = {
  healthy: Series
  /** An instance that must fire the alert. Empty: the whole job has no series. */
  ill: Series
  /** Other alerts that the same cause fires. */
  alsoFires?: string[]
}

const requests = (status: number) =>
  `http_server_request_duration_seconds_count{operation="createPlant",method="POST",status="${status}"}`
const bucket = (le: string) =>
  `http_server_request_duration_seconds_bucket{operation="createPlant",method="POST",status="200",le="${le}"}`
const refused = (reason: string) => `plant_store_requests_refused_total{reason="${reason}"}`
const shed = 'plant_store_requests_shed_total{reason="in_flight"}'
const MiB = 1024 ** 2

const always = (value: number) => `${value}x100`
const up = { up: always(1) }

/** Returns a case whose healthy and ill instances differ only in the value of one gauge. */
const gauge = (name: string, healthy: number, ill: number): Case => ({
  healthy: { ...up, [name]: always(healthy) },
  ill: { ...up, [name]: always(ill) },
})

/** For each alert, the series of an instance that must not fire it and of one that must, for 25 minutes. */
export const cases: Record<string, Case> = {
  PlantStoreDown: gauge('up', 1, 0),
  PlantStoreAbsent: { healthy: {}, ill: {} },
  PlantStoreNotReady: gauge('plant_store_ready', 1, 0),
  PlantStoreErrors: {
    healthy: { ...up, [requests(200)]: '0+960x100', [requests(500)]: '0+40x100', [requests(400)]: '0+900x100' },
    ill: { ...up, [requests(200)]: '0+940x100', [requests(500)]: '0+60x100' },
  },
  PlantStoreUnavailable: {
    healthy: { ...up, [refused('unavailable')]: '0+1x100', [refused('invalid')]: '0+90x100', [shed]: always(0) },
    ill: { ...up, [refused('unavailable')]: '0+2x100', [shed]: always(0) },
  },
  PlantStoreOverloaded: {
    healthy: { ...up, [shed]: '0+1x100' },
    // Shed requests are also counted as unavailable, which must not be taken for a failing store.
    ill: { ...up, [shed]: '0+90x100', [refused('unavailable')]: '0+90x100' },
  },
  PlantStoreSlow: {
    healthy: { ...up, [bucket('2.5')]: '0+100x100', [bucket('10')]: '0+100x100', [bucket('+Inf')]: '0+100x100' },
    ill: { ...up, [bucket('2.5')]: '0+98x100', [bucket('10')]: '0+100x100', [bucket('+Inf')]: '0+100x100' },
  },
  PlantStoreEventLoopDelayed: gauge('nodejs_eventloop_delay_p99_seconds', 0.09, 0.11),
  PlantStoreWalLarge: gauge('plant_store_sqlite_wal_bytes', 256 * MiB, 257 * MiB),
  PlantStoreConnectionsNearLimit: {
    healthy: { ...up, process_open_fds: always(7_990), process_max_fds: always(16_384) },
    ill: { ...up, process_open_fds: always(900), process_max_fds: always(1_024) },
  },
  PlantStoreConnectionsRefused: {
    healthy: { ...up, [refused('connections')]: always(9) },
    ill: { ...up, [refused('connections')]: '0+1x100' },
  },
  PlantStoreTokensFileUnusable: gauge('plant_store_tokens_file_good', 1, 0),
  PlantStoreRestarts: {
    healthy: { ...up, process_start_time_seconds: '1x40 2x60' },
    ill: { ...up, process_start_time_seconds: '1+1x100' },
  },
  PlantStoreMemoryHigh: gauge('process_resident_memory_bytes', 400 * MiB, 420 * MiB),
}
