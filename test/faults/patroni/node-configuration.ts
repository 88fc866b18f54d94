/** Where one node of the cluster is. */
export type NodeLocation = {
  name: string
  /** The directory of the node: the working directory of its Patroni. */
  directory: string
  /** The ports of PostgreSQL and of Patroni's REST interface, on 127.0.0.1. */
  port: number
  apiPort: number
}

/**
 * Seconds until the lock of a leader expires that does not renew it, between two looks of Patroni, and of its attempts
 * to reach etcd. Patroni asks for loop_wait + 2 * retry_timeout <= ttl; its defaults are three times as long.
 */
const times = { ttl: 10, loop_wait: 1, retry_timeout: 4 }

/** A standby that the new leader needs for its first commit would try to reach it only every five seconds. */
const parameters = { wal_keep_size: '256MB', wal_retrieve_retry_interval: '500ms' }

const addressOf = (port: number) => `127.0.0.1:${port}`

export type ClusterOptions = {
  /** The directory of PostgreSQL's programs. */
  programs: string
  /** Whether a commit waits for a standby, also while there is none, and only a standby that has it is promoted. */
  synchronous: boolean
}

/** Returns the configuration of a node as JSON, which is YAML as well. */
export function nodeConfiguration(place: NodeLocation, etcdPort: number, options: ClusterOptions): string {
  const { programs, synchronous } = options
  const { name, directory, port, apiPort } = place
  return JSON.stringify({
    scope: 'plants',
    name,
    restapi: { listen: addressOf(apiPort), connect_address: addressOf(apiPort) },
    // The second version of etcd's interface: with the third one a leader of Patroni before 3.1 that was frozen keeps an
    // old state of the cluster for ever, names no synchronous standby, and so is never followed by another leader
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
