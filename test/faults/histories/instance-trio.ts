import { setTimeout as sleep } from 'node:timers/promises'
import type { Postgres } from '../../../scripts/postgres/temporary-postgres.ts'
import { type Service, startService } from '../../scenarios/built-service.ts'
import type { Random } from '../seeded-random.ts'
import { type Link, openLink } from './unreliable-link.ts'

/** One of three instances, with one link to its clients and one to the database. */
export type Instance = {
  /** Both links. */
  links: Link[]
  /** The port for clients; a restart does not change it. */
  port: number
  /** Kills the instance with SIGKILL, and restarts it after `downTime` (ms). */
  restart(downTime: number): Promise<void>
  /** Stops the instance; resolves with its exit code. */
  stop(): Promise<number | null>
}

/** Milliseconds between attempts to start an instance, which exits while the database is away. */
const pause = 200

/** Starts three instances of the service. `prefix` is prepended to the database URL. */
export const startTrio = (server: Postgres, random: Random, prefix: string): Promise<Instance[]> =>
  Promise.all(Array.from({ length: 3 }, () => startInstance(server, random, prefix)))

async function startInstance(server: Postgres, random: Random, prefix: string): Promise<Instance> {
  const [clients, database] = [await openLink(random), await openLink(random)]
  database.lead(server.port)
  const parameters = 'connect_timeout=1&statement_timeout=1500&query_timeout=2000'
  const url = `${prefix}postgres://postgres@127.0.0.1:${database.port}/postgres?${parameters}`
  const start = async (): Promise<Service> => {
    for (;;) {
      const started = await startService(url).catch(() => undefined)
      if (started === undefined) await sleep(pause)
      else {
        clients.lead(started.port)
        return started
      }
    }
  }
  let service = await start()
  return {
    links: [clients, database],
    port: clients.port,
    async restart(downTime) {
      await service.kill()
      await sleep(downTime)
      service = await start()
    },
    async stop() {
      const { code } = await service.stop()
      for (const link of [clients, database]) link.close()
      return code
    },
  }
}
