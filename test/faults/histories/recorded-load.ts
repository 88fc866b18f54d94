import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StoredPlant } from '../../../src/store/plant-store.ts'
import { requestPlant } from '../plant-request.ts'
import type { Random } from '../seeded-random.ts'
import { contendedCreates, contentOf } from './contended-creates.ts'
import type { Create } from './plant-history.ts'

/** Clients of each instance, with one request in flight each: a hanging instance does not block the others' clients. */
const clients = 24

/** Milliseconds until a client times out, and the pause before a client retries after an unknown outcome. */
const [patience, pause] = [3_000, 100]

/** Number of times that a client retries a write without an outcome. */
const retries = 3

const outcomes = new Map<number | string, Create['outcome']>([
  [200, 'kept'],
  [409, 'conflict'],
  [503, 'unknown'],
])

export type RecordedLoad = {
  /** The writes of each id. */
  histories: Map<bigint, Create[]>
  /** Counts of each status, connection error code and contract violation. */
  answers: Map<number | string, number>
  /** Returns the number of writes answered with 200 or 409. */
  answered(): number
  /** Returns the number of responses that no fault excuses: a status other than 200, 409, 503, or a flaw. */
  wrong(): number
  /** Stops sending; resolves when every request has its outcome. */
  stop(): Promise<void>
}

/** Sends contended writes to several instances of the service in random order and records what clients observe. */
export function startRecordedLoad(ports: number[], random: Random): RecordedLoad {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const creates = contendedCreates(random)
  const histories = new Map<bigint, Create[]>()
  const answers = new Map<number | string, number>()
  let wrong = 0
  let stopped = false

  const send = async (plant: StoredPlant, port: number): Promise<Create> => {
    const start = performance.now()
    const { status, flaw } = await requestPlant(plant, { port, agent, timeout: patience })
    const end = performance.now()
    for (const answer of flaw === undefined ? [status] : [status, flaw])
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    if (flaw !== undefined || (typeof status === 'number' && !outcomes.has(status))) wrong++
    return { outcome: outcomes.get(status) ?? 'unknown', content: contentOf(plant), start, end }
  }
  const client = async (port: number) => {
    while (!stopped) {
      const plant = creates.next().value as StoredPlant
      const history = histories.get(plant.id) ?? []
      histories.set(plant.id, history)
      for (let sent = 0; sent <= retries && !stopped; sent++) {
        const create = await send(plant, port)
        history.push(create)
        if (create.outcome !== 'unknown') break
        await sleep(pause)
      }
    }
  }
  const finished = Promise.all(ports.flatMap((port) => Array.from({ length: clients }, () => client(port)))).then(() =>
    agent.destroy(),
  )
  return {
    histories,
    answers,
    answered: () => (answers.get(200) ?? 0) + (answers.get(409) ?? 0),
    wrong: () => wrong,
    stop() {
      stopped = true
      return finished
    },
  }
}
