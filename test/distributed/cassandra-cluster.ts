import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until, within } from 'fastify-contract-test-support/poll'
import { type InternodeLinks, openInternodeLinks } from './internode-links.ts'

/** A node of a cluster on this machine. */
export type CassandraNode = {
  /** The address for clients. */
  address: string
  /** The address for other nodes. */
  peerAddress: string
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
  /** Keeps nodes apart from each other, if the cluster was started with `links`. */
  links: InternodeLinks | undefined
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
  const classpath = mavenClasspath()
  return classpath === undefined ? 'Maven could not fetch Cassandra' : { classpath }
}

export type ClusterOptions = {
  /** The number of nodes; default: 3. */
  count?: number
  /** Settings of cassandra.yaml. */
  settings?: Record<string, string>
  /** Where the cluster creates its directory; default: that for temporary files. */
  parent?: string
  /** Whether nodes can be kept apart from each other. */
  links?: boolean
}

/**
 * Starts a cluster of nodes on loopback addresses of this process, one node after another. It ends with this process,
 * even if that is killed.
 */
export async function startCassandra(
  classpath: string,
  { count = 3, settings = {}, parent = tmpdir(), links: isLinked = false }: ClusterOptions = {},
): Promise<CassandraCluster> {
  const directory = await mkdtemp(join(parent, 'plant-store-cassandra-'))
  const places = Array.from({ length: count }, (_, index): Place => {
    const listen = nodeAddress(index + 1)
    return { listen, to: isLinked ? nodeAddress(101 + index) : listen, directory: join(directory, `n${index + 1}`) }
  })
  const links = isLinked ? await openInternodeLinks(places) : undefined
  const current = { commitlog_sync: 'batch', paxos_variant: 'v2', ...settings }
  const nodes = places.map((place) => nodeAt(place, classpath, () => yaml(place, places, current)))
  const cluster: CassandraCluster = {
    nodes,
    links,
    url: (keyspace, parameters = '') =>
      `cassandra://${places.map(({ listen }) => listen)}/${keyspace}?datacenter=${datacenter}${parameters && `&${parameters}`}`,
    configure: (changes) => void Object.assign(current, changes),
    async close() {
      await Promise.all(nodes.map((node) => node.end('SIGKILL')))
      links?.close()
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

/** The directory of a node, the address where it listens, and the address that other nodes use. */
type Place = { directory: string; listen: string; to: string }

/** Returns a cassandra.yaml with a small heap's settings. The tokens divide the ring evenly. */
function yaml(place: Place, places: Place[], settings: Record<string, string>): string {
  const { directory, listen, to } = place
  const token = (BigInt(places.indexOf(place)) << 64n) / BigInt(places.length) - 2n ** 63n
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
    seed_provider: `[{class_name: org.apache.cassandra.locator.SimpleSeedProvider, parameters: [{seeds: "${places[0]?.to}:7000"}]}]`,
    listen_address: listen,
    broadcast_address: to,
    rpc_address: listen,
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
    ...(settings.commitlog_sync === 'group' && { commitlog_sync_group_window: '10ms' }),
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

function nodeAt(place: Place, classpath: string, configuration: () => string): CassandraNode {
  const { directory, listen: address } = place
  let running: { shell: ChildProcess; pid: number; ended: Promise<unknown> } | undefined
  mkdirSync(directory)
  const configurationFile = join(directory, 'cassandra.yaml')
  const logbackFile = join(directory, 'logback.xml')
  const log = join(directory, 'log')
  writeFileSync(logbackFile, logback)

  return {
    address,
    peerAddress: place.to,
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
      const ended = once(shell, 'close')
      const ready = new Promise<number>((resolve, reject) => {
        let output = ''
        let pid = 0
        for (const stream of [shell.stdout, shell.stderr])
          stream.setEncoding('utf8').on('data', (text: string) => {
            appendFileSync(log, text)
            if (pid < 0) return
            output = (output + text).slice(-10_000)
            pid ||= Number(/pid (\d+)/.exec(output)?.[1] ?? 0)
            running = { shell, pid, ended }
            if (!output.includes('Starting listening for CQL clients')) return
            resolve(pid)
            pid = -1
          })
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

/** Returns the path of a program on PATH; undefined if there is none. */
const search = (name: string) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((directory) => join(directory, name))
    .find((path) => existsSync(path))

/** Fetches Cassandra with Maven and returns its class path; undefined when that fails. */
function mavenClasspath(): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-maven-'))
  const file = join(directory, 'classpath')
  const pom = fileURLToPath(new URL('cassandra.pom.xml', import.meta.url))
  const args = ['--quiet', '--batch-mode', '--file', pom, 'dependency:build-classpath', `-Dmdep.outputFile=${file}`]
  try {
    const { status } = spawnSync('mvn', args, { stdio: 'ignore', timeout: patience })
    return status === 0 ? readFileSync(file, 'utf8') : undefined
  } finally {
    rmSync(directory, { recursive: true })
  }
}
