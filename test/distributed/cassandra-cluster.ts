import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until, within } from '../../scripts/system/poll.ts'
import { mavenClasspath, search } from './spanner-programs.ts'

/** A node of a cluster on this machine. */
export type CassandraNode = {
  address: string
  /** The process id of Java. */
  pid(): number
  /** Starts the node; resolves once it accepts clients. `environment` is added to that of Java. */
  start(environment?: Record<string, string>): Promise<void>
  /** Sends a signal to Java. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
  /** Ends Java with SIGTERM, which drains the node, or with SIGKILL. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

export type CassandraCluster = {
  nodes: CassandraNode[]
  /** Returns the STORE_URL of a keyspace. */
  url(keyspace: string, parameters?: string): string
  /** Changes settings of cassandra.yaml; a node reads them when it starts. */
  configure(settings: Record<string, string>): void
  /** Ends all nodes and removes their files. */
  close(): Promise<void>
}

/** The data center of a node without a topology file. */
export const datacenter = 'datacenter1'

/** Milliseconds that a node may take to start or to drain on a busy machine. */
const patience = 300_000

const exported =
  'java.base/java.lang java.base/java.lang.module java.base/java.lang.ref java.base/java.lang.reflect java.base/java.io ' +
  'java.base/java.math java.base/java.net java.base/java.nio java.base/java.nio.channels java.base/java.util ' +
  'java.base/java.util.concurrent java.base/java.util.concurrent.atomic java.base/jdk.internal.loader ' +
  'java.base/jdk.internal.math java.base/jdk.internal.misc java.base/jdk.internal.module java.base/jdk.internal.ref ' +
  'java.base/jdk.internal.reflect java.base/jdk.internal.util java.base/jdk.internal.util.jar java.base/sun.nio.ch ' +
  'java.logging/java.util.logging java.management/com.sun.jmx.remote.security ' +
  'java.management.rmi/com.sun.jmx.remote.internal.rmi java.rmi/sun.rmi.registry java.rmi/sun.rmi.server ' +
  'java.rmi/sun.rmi.transport java.rmi/sun.rmi.transport.tcp java.sql/java.sql ' +
  'jdk.management/com.sun.management.internal'

/** A node takes about 850 MB of memory with these. */
const javaOptions = [
  ...[
    '-Xms512M',
    '-Xmx512M',
    '-XX:MaxDirectMemorySize=256M',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-Xss512k',
  ],
  ...exported.split(' ').flatMap((name) => [`--add-opens=${name}=ALL-UNNAMED`, `--add-exports=${name}=ALL-UNNAMED`]),
  '-Djdk.attach.allowAttachSelf=true',
  '-Dio.netty.tryReflectionSetAccessible=true',
  '-Dcassandra-foreground=yes',
  // A new cluster of one machine has no ranges to move, so it need not wait for gossip.
  '-Dcassandra.ring_delay_ms=2000',
  '-Dcassandra.skip_wait_for_gossip_to_settle=0',
]

const logback = `<configuration><appender name="out" class="ch.qos.logback.core.ConsoleAppender"><encoder>
<pattern>%-5level %date{HH:mm:ss} %msg%n</pattern></encoder></appender><root level="INFO"><appender-ref ref="out"/></root>
</configuration>
`

/**
 * Shell script that prints the pid of Java. When the pipe to this process closes, it kills Java and removes the
 * directory of the node, its $0. A background command has the pipe only if it is redirected.
 */
const guard =
  'exec 3<&0; "$@" 3<&- & pid=$!; echo "pid $pid"; ' +
  '{ cat; kill -KILL $pid; sleep 1; rm -rf "$0"; rmdir "$(dirname "$0")"; } <&3 > /dev/null 2>&1 & guard=$!; ' +
  'wait $pid; kill $guard'

/**
 * Returns the class path of Cassandra, from CASSANDRA_CLASSPATH or from Maven. If something is missing, returns a text
 * with its name and how to install it.
 */
export function cassandraClasspath(): { classpath: string } | string {
  if (process.platform !== 'linux') return 'Cassandra needs the addresses 127.0.0.0/8 of Linux'
  const version = spawnSync('java', ['-version'], { encoding: 'utf8' }).stderr ?? ''
  if (!/version "(11|17)\./.test(version))
    return 'java not found, or not of version 11 or 17, which Cassandra 5.0 needs'
  if (process.env.CASSANDRA_CLASSPATH !== undefined) return { classpath: process.env.CASSANDRA_CLASSPATH }
  if (search('mvn') === undefined)
    return 'mvn not found; install Maven, or set CASSANDRA_CLASSPATH to the jars of Cassandra'
  const classpath = mavenClasspath('cassandra.pom.xml')
  return classpath === undefined ? 'Maven could not fetch Cassandra' : { classpath }
}

/**
 * Starts a cluster of `count` nodes on loopback addresses of this process, one node after another. It ends with this
 * process, even if that is killed.
 */
export async function startCassandra(
  classpath: string,
  count = 3,
  settings: Record<string, string> = {},
): Promise<CassandraCluster> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-cassandra-'))
  const addresses = Array.from({ length: count }, (_, index) => nodeAddress(index + 1))
  const current = { commitlog_sync: 'batch', ...settings }
  const nodes = addresses.map((address, index) =>
    nodeAt(address, join(directory, `n${index + 1}`), classpath, () =>
      yaml(address, addresses, join(directory, `n${index + 1}`), current),
    ),
  )
  const cluster: CassandraCluster = {
    nodes,
    url: (keyspace, parameters = '') =>
      `cassandra://${addresses}/${keyspace}?datacenter=${datacenter}${parameters && `&${parameters}`}`,
    configure: (changes) => void Object.assign(current, changes),
    async close() {
      await Promise.all(nodes.map((node) => node.end('SIGKILL')))
      rmSync(directory, { recursive: true })
    },
  }
  try {
    for (const node of nodes) await node.start()
  } catch (error) {
    await cluster.close()
    throw error
  }
  return cluster
}

/** Returns the address of a node, from 1, in the network of this process, so that several clusters can run at once. */
export const nodeAddress = (node: number): string =>
  `127.${1 + (process.pid % 250)}.${1 + (Math.floor(process.pid / 250) % 250)}.${node}`

/** Returns a cassandra.yaml with a small heap's settings. The tokens divide the ring evenly. */
function yaml(address: string, addresses: string[], directory: string, settings: Record<string, string>): string {
  const token = (BigInt(addresses.indexOf(address)) << 64n) / BigInt(addresses.length) - 2n ** 63n
  const lines = {
    cluster_name: 'plants',
    num_tokens: 1,
    initial_token: `"${token}"`,
    auto_bootstrap: false,
    partitioner: 'org.apache.cassandra.dht.Murmur3Partitioner',
    data_file_directories: `[${directory}/data]`,
    commitlog_directory: `${directory}/commitlog`,
    hints_directory: `${directory}/hints`,
    saved_caches_directory: `${directory}/caches`,
    cdc_raw_directory: `${directory}/cdc`,
    commitlog_segment_size: '8MiB',
    commitlog_total_space: '64MiB',
    disk_optimization_strategy: 'ssd',
    endpoint_snitch: 'SimpleSnitch',
    seed_provider: `[{class_name: org.apache.cassandra.locator.SimpleSeedProvider, parameters: [{seeds: "${addresses[0]}:7000"}]}]`,
    listen_address: address,
    rpc_address: address,
    native_transport_port: 9042,
    storage_port: 7000,
    start_native_transport: true,
    memtable_heap_space: '64MiB',
    memtable_offheap_space: '64MiB',
    file_cache_size: '32MiB',
    key_cache_size: '4MiB',
    concurrent_reads: 16,
    concurrent_writes: 16,
    auto_snapshot: false,
    ...(settings.commitlog_sync === 'periodic' && { commitlog_sync_period: '10000ms' }),
    ...settings,
  }
  return Object.entries(lines)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('')
}

/** Resolves with whether a node accepts a connection of a client. */
const accepts = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(9042, address)
    socket
      .once('error', () => resolve(false))
      .once('connect', () => {
        socket.destroy()
        resolve(true)
      })
  })

function nodeAt(address: string, directory: string, classpath: string, configuration: () => string): CassandraNode {
  let running: { shell: ChildProcess; pid: number; ended: Promise<unknown> } | undefined
  mkdirSync(directory)
  const configurationFile = join(directory, 'cassandra.yaml')
  const logbackFile = join(directory, 'logback.xml')
  const log = join(directory, 'log')
  writeFileSync(logbackFile, logback)

  return {
    address,
    pid: () => running?.pid as number,
    async start(environment = {}) {
      writeFileSync(configurationFile, configuration())
      const options = [
        ...javaOptions,
        `-Dcassandra.config=file://${configurationFile}`,
        `-Dcassandra.storagedir=${directory}`,
        `-Dcassandra.logdir=${directory}`,
        `-Dlogback.configurationFile=file://${logbackFile}`,
      ]
      const java = [...options, '-cp', classpath, 'org.apache.cassandra.service.CassandraDaemon']
      const shell = spawn('sh', ['-c', guard, directory, 'nice', '-n', '3', 'java', ...java], {
        env: { ...process.env, ...environment },
        stdio: ['pipe', 'pipe', 'pipe'],
      })
      const ended = once(shell, 'exit').then(() => shell.stdin.destroy())
      const file = createWriteStream(log, { flags: 'a' })
      const ready = new Promise<number>((resolve, reject) => {
        let output = ''
        let pid = 0
        for (const stream of [shell.stdout, shell.stderr]) {
          stream.pipe(file, { end: false })
          stream.setEncoding('utf8').on('data', (text: string) => {
            if (pid < 0) return
            output = (output + text).slice(-10_000)
            pid ||= Number(/pid (\d+)/.exec(output)?.[1] ?? 0)
            running = { shell, pid, ended }
            if (!output.includes('Starting listening for CQL clients')) return
            resolve(pid)
            pid = -1
          })
        }
        ended.then(() => reject(new Error(`node ${address} ended: ${output}`)))
      })
      await within(ready, () => `node ${address} to start: ${readFileSync(log, 'utf8').slice(-2_000)}`, patience)
      // The node writes that line before it listens.
      await until(() => accepts(address), `node ${address} to listen`, patience)
    },
    signal(signal) {
      process.kill((running as { pid: number }).pid, signal)
    },
    async end(signal) {
      if (running === undefined) return
      const { pid, ended, shell } = running
      running = undefined
      if (shell.exitCode === null) process.kill(pid, signal)
      await within(ended, `node ${address} to end`, patience)
    },
  }
}
