import { spawn } from 'node:child_process'
import { chmodSync, closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from 'fastify-contract-test-support/free-port'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import { until } from 'fastify-contract-test-support/poll'
import { chownToServer, unprivileged } from '../../../scripts/postgres/postgres-programs.ts'
import { killIn, signalIn } from './directory-processes.ts'
import { type ClusterOptions, type NodeLocation, nodeConfiguration } from './node-configuration.ts'

const roles = ['leader', 'sync_standby', 'replica']
const asynchronousRoles = ['leader', 'replica', 'replica']

/** A node as Patroni's REST API reports it. */
type Member = { name: string; role: string; state: string; timeline?: number }

type Whole = {
  leader: NodeLocation
  /** A standby that may be promoted: a synchronous one if the cluster is synchronous. */
  candidate: NodeLocation
  other: NodeLocation
}

export type PatroniCluster = {
  /** STORE_URL that lists all nodes. */
  url: string
  /** Resolves with the nodes once all three run on one timeline: a leader and two standbys. */
  whole(): Promise<Whole>
  /** Starts a node: Patroni, which starts PostgreSQL. */
  start(node: NodeLocation): void
  /** Switches over to another leader; resolves when Patroni confirms. Throws when Patroni rejects it. */
  switchOver(leader: NodeLocation, candidate: NodeLocation): Promise<void>
  /** Kills every process of the cluster. */
  close(): Promise<void>
}

/** Starts one etcd and three nodes of PostgreSQL under Patroni, with their logs in a directory. */
export async function startCluster(directory: string, options: ClusterOptions): Promise<PatroniCluster> {
  mkdirSync(directory, { recursive: true })
  // The unprivileged user that runs PostgreSQL must be able to enter the directory.
  chmodSync(directory, 0o755)
  const etcdPort = await startEtcd(join(directory, 'etcd'))
  const nodes: NodeLocation[] = []
  for (const name of ['node1', 'node2', 'node3']) {
    const place = { name, directory: join(directory, name), port: await freePort(), apiPort: await freePort() }
    mkdirSync(place.directory)
    writeFileSync(join(place.directory, 'patroni.json'), nodeConfiguration(place, etcdPort, options))
    chownToServer(place.directory)
    nodes.push(place)
  }
  const start = ({ directory }: NodeLocation) => runIn(directory, ['patroni', 'patroni.json'])
  process.once('exit', () => signalIn(directory, 'SIGKILL'))
  for (const node of nodes) start(node)

  const membersOf = async (): Promise<Member[]> => {
    for (const { apiPort } of nodes) {
      const answer = await httpRequest(`http://127.0.0.1:${apiPort}/cluster`).catch(() => undefined)
      if (answer?.status === 200) return JSON.parse(answer.body).members
    }
    return []
  }
  const whole = async (): Promise<Whole | undefined> => {
    const members = (await membersOf()).filter(({ state }) => /^(running|streaming)$/.test(state))
    const sorted = members.toSorted((one, other) => roles.indexOf(one.role) - roles.indexOf(other.role))
    const [leader, candidate, other] = sorted.map((member) => nodes.find(({ name }) => name === member.name))
    const isLed = sorted.map(({ role }) => role).join() === (options.synchronous ? roles : asynchronousRoles).join()
    const isFollowed = sorted.every(({ timeline }) => timeline === sorted[0]?.timeline)
    return isLed && isFollowed && leader && candidate && other ? { leader, candidate, other } : undefined
  }
  return {
    url: `postgres://postgres@${nodes.map(({ port }) => `127.0.0.1:${port}`).join()}/postgres`,
    start,
    whole: () => until(whole, `all nodes to run; see patroni.log in ${directory}`, 300_000),
    async switchOver(leader, candidate) {
      const body = JSON.stringify({ leader: leader.name, candidate: candidate.name })
      const answer = await httpRequest(`http://127.0.0.1:${leader.apiPort}/switchover`, { method: 'POST', body })
      if (answer.status !== 200) throw new Error(`Patroni rejected the switchover: ${answer.body}`)
    },
    close: () => killIn(directory),
  }
}

async function startEtcd(directory: string): Promise<number> {
  const [port, peerPort] = [await freePort(), await freePort()]
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`]
  mkdirSync(directory)
  chownToServer(directory)
  const clients = ['--listen-client-urls', client, '--advertise-client-urls', client]
  const peers = ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `one=${peer}`]
  runIn(directory, ['etcd', '--enable-v2', '--name', 'one', '--data-dir', 'data', ...clients, ...peers])
  const isHealthy = async () => (await httpRequest(`${client}/health`).catch(() => undefined))?.status === 200
  await until(isHealthy, `etcd to be healthy; see etcd.log in ${directory}`)
  return port
}

/** Runs a program in its own directory, and writes its log there. */
function runIn(directory: string, [file = '', ...args]: string[]): void {
  const log = openSync(join(directory, `${file}.log`), 'a')
  spawn(file, args, { ...unprivileged, cwd: directory, stdio: ['ignore', log, log] }).unref()
  closeSync(log)
}
