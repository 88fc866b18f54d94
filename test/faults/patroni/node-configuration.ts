/** Location of one node of the cluster. */
export type NodeLocation = {
  name: string
  /** Working directory of the node's Patroni. */
  directory: string
  /** Ports on 127.0.0.1 of PostgreSQL and of Patroni's REST API. */
  port: number
  apiPort: number
}

/**
 * Seconds: lifetime of the leader's lock without renewal, interval of Patroni's loop, and time limit for retries of
 * etcd. Patroni requires loop_wait + 2 * retry_timeout <= ttl, and its later versions a ttl of at least 20
 * (https://patroni.readthedocs.io/en/latest/dynamic_configuration.html).
 */
const times = { ttl: 20, loop_wait: 1, retry_timeout: 9 }

/** By default a standby retries every 5 s to reach a new leader, whose first commit waits for that standby. */
const parameters = { wal_keep_size: '256MB', wal_retrieve_retry_interval: '500ms' }

const addressOf = (port: number) => `127.0.0.1:${port}`

export type ClusterOptions = {
  /** Directory of PostgreSQL's programs. */
  programs: string
  /** If true, every commit waits for a standby, even while there is none, and only a standby in sync is promoted. */
  synchronous: boolean
}

/** Returns the configuration of a node as JSON, which is also valid YAML. */
export function nodeConfiguration(place: NodeLocation, etcdPort: number, options: ClusterOptions): string {
  const { programs, synchronous } = options
  const { name, directory, port, apiPort } = place
  return JSON.stringify({
    scope: 'plants',
    name,
    restapi: { listen: addressOf(apiPort), connect_address: addressOf(apiPort) },
    // Version 2 of etcd's API: with version 3, a frozen leader of Patroni before 3.1 keeps an outdated view of the
    // cluster, names no synchronous standby, and is therefore never replaced
    // (https://github.com/patroni/patroni/issues/2779).
    etcd: { host: addressOf(etcdPort) },
    bootstrap: {
      dcs: {
        ...times,
        synchronous_mode: synchronous,
        synchronous_mode_strict: synchronous,
        postgresql: { use_pg_rewind: true, parameters },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'no-sync'],
    },
    postgresql: {
      listen: addressOf(port),
      connect_address: addressOf(port),
      bin_dir: programs,
      data_dir: `${directory}/data`,
      pgpass: `${directory}/pgpass`,
      authentication: { superuser: { username: 'postgres' }, replication: { username: 'replicator' } },
      pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
      parameters: { unix_socket_directories: '', shared_buffers: '32MB' },
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
    },
    watchdog: { mode: 'off' },
  })
}
