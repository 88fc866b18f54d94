import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { compileRoutes, type Document } from 'fastify-contract-cli/testing'
import { freePort } from 'fastify-contract-test-support/free-port'
import { query } from '../../scripts/postgres/temporary-postgres.ts'
import type { Random } from '../faults/seeded-random.ts'
import { type KeyedClient, keyedClient } from './keyed-client.ts'

const order = {
  type: 'object',
  required: ['reference'],
  properties: { id: { type: 'integer', format: 'int64' }, reference: { type: 'string' } },
}

const document = {
  openapi: '3.1.0',
  info: { title: 'Orders', version: '1' },
  paths: {
    '/orders': {
      post: {
        operationId: 'createOrder',
        parameters: [{ name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string' } }],
        requestBody: { required: true, content: { 'application/json': { schema: order } } },
        responses: { 201: { content: { 'application/json': { schema: order } } } },
      },
    },
  },
} as unknown as Document

const command = ['--import=fastify-contract-test-support/register-strip-types.js']
const program = fileURLToPath(new URL('keyed-instance.ts', import.meta.url))

/** One of the instances; it is started again after each kill. */
class Instance {
  readonly port: number
  readonly #settings: object
  #child: ChildProcess | undefined
  #listening: Promise<unknown> | undefined

  constructor(port: number, settings: object) {
    this.port = port
    this.#settings = { ...settings, port }
    this.start()
  }

  start(): void {
    const env = { ...process.env, KEYED_INSTANCE: JSON.stringify(this.#settings) }
    this.#child = spawn(process.execPath, [...command, program], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    this.#listening = once(this.#child, 'message')
  }

  /** Resolves when the process that was started last listens. */
  async listens(): Promise<void> {
    await this.#listening
  }

  async kill(): Promise<void> {
    const ended = once(this.#child as ChildProcess, 'exit')
    this.#child?.kill('SIGKILL')
    await ended
  }
}

export type KilledOptions = {
  url: string
  /** Number of orders, each with its own key. */
  creates: number
  isTransactional: boolean
  random: Random
  /** The maximum of the random times, in milliseconds, from the start of an instance to a kill. */
  pause: number
  /** Milliseconds after which another instance may take a key over. */
  lease?: number
}

export type KilledFindings = {
  kills: number
  requests: number
  replays: number
  conflicts: number
  /** References with more than one order. */
  twice: number
  /** Acknowledged orders that are not in the database. */
  lost: number
  /** Responses that differ from the first response to their key, or have a status that no fault excuses. */
  wrong: string[]
}

/**
 * Creates orders through two instances over one database, by clients that repeat requests at random, while both instances
 * are killed at random. Resolves when each order is acknowledged.
 */
export async function createWithKills(options: KilledOptions): Promise<KilledFindings> {
  const { url, creates, isTransactional, random, pause, lease = 1_000 } = options
  await query(url, 'CREATE TABLE orders (id bigserial, reference text NOT NULL)')
  const settings = { routes: compileRoutes(document), url, lease, isTransactional }
  const instances = [new Instance(await freePort(), settings), new Instance(await freePort(), settings)]
  const agent = new Agent({ keepAlive: true })
  const client = keyedClient({ ports: instances.map(({ port }) => port), creates, random, agent })
  let kills = 0
  let isOver = false
  const killAtRandom = async () => {
    while (!isOver) {
      await Promise.all(instances.map((instance) => instance.listens()))
      await sleep(random.below(pause))
      if (isOver) return
      const killed = random.below(4) === 0 ? instances : [instances[random.below(2)] as Instance]
      await Promise.all(killed.map((instance) => instance.kill()))
      kills += killed.length
      for (const instance of killed) instance.start()
    }
  }
  const killing = killAtRandom()
  await client.run()
  isOver = true
  await killing
  await Promise.all(instances.map((instance) => instance.kill()))
  agent.destroy()
  return { kills, ...client.counts, wrong: client.wrong, ...(await compareRows(url, client)) }
}

async function compareRows(
  url: string,
  { acknowledged }: KeyedClient,
): Promise<Pick<KilledFindings, 'twice' | 'lost'>> {
  const rows = (await query(url, 'SELECT reference, array_agg(id::text) AS ids FROM orders GROUP BY reference')) as {
    reference: string
    ids: string[]
  }[]
  const found = new Map(rows.map(({ reference, ids }) => [reference, ids]))
  let lost = 0
  for (const [reference, id] of acknowledged) if (found.get(reference)?.includes(id) !== true) lost++
  return { twice: rows.filter(({ ids }) => ids.length > 1).length, lost }
}
