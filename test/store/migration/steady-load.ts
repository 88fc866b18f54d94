import { Agent } from 'node:http'
import { until } from '../../../scripts/system/poll.ts'
import type { ServiceProcess } from '../../support/service-process.ts'

export type Load = { stop(): Promise<void> }

/** The creates of all loads of a test: the names of the acknowledged plants by id, and the failures. */
export class Creates {
  readonly acknowledged = new Map<bigint, string>()
  readonly failures: string[] = []
  #next = 1n

  /** Sends creates to a service, four concurrently, until `stop`; every tenth repeats an id of any load. */
  send({ create }: Pick<ServiceProcess, 'create'>): Load {
    const agent = new Agent({ keepAlive: true })
    let isStopped = false
    const client = async () => {
      for (let count = 1; !isStopped; count++) {
        const id = count % 10 === 0 && this.#next > 10n ? this.#next - 10n : this.#next++
        const name = `plant ${id}`
        try {
          const { status, body } = await create(`{"id":${id},"name":"${name}"}`, {}, agent)
          if (status === 200) this.acknowledged.set(id, name)
          else this.failures.push(`${status} ${JSON.stringify(body)}`)
        } catch (error) {
          this.failures.push(String(error))
        }
      }
    }
    const clients = Promise.all(Array.from({ length: 4 }, client))
    return {
      async stop() {
        isStopped = true
        await clients
        agent.destroy()
      },
    }
  }

  /** Resolves when `count` more ids have been acknowledged, or as soon as a create has failed. */
  async more(count: number): Promise<void> {
    const goal = this.acknowledged.size + count
    await until(() => this.acknowledged.size >= goal || this.failures.length > 0, `${count} creates`)
  }
}
