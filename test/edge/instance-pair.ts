import { freePort } from 'fastify-contract-test-support/free-port'
import { startService } from '../scenarios/built-service.ts'

export type Instance = { port: number; managementPort: number }

export type InstancePair = {
  instances: [Instance, Instance]
  /** Restarts one instance on its ports; resolves with it once it listens. */
  restart(which: 0 | 1): Promise<Instance>
  /** Stops both instances; resolves with the number of exit codes other than 0, including those of earlier restarts. */
  stop(): Promise<number>
}

/** Starts two instances of the service on free ports. */
export async function startPair(
  environment: Record<string, string>,
  storeUrl: string = 'memory:',
): Promise<InstancePair> {
  const newInstance = async (): Promise<Instance> => ({ port: await freePort(), managementPort: await freePort() })
  const instances: [Instance, Instance] = [await newInstance(), await newInstance()]
  const start = ({ port, managementPort }: Instance) =>
    startService(storeUrl, {
      environment: { ...environment, PORT: String(port), MANAGEMENT_PORT: String(managementPort) },
    })
  const services = await Promise.all(instances.map(start))
  let unclean = 0
  const end = async (which: number) => {
    const { code } = (await services[which]?.stop()) ?? {}
    if (code !== 0) unclean++
  }
  return {
    instances,
    async restart(which) {
      await end(which)
      services[which] = await start(instances[which])
      return instances[which]
    },
    async stop() {
      await Promise.all([end(0), end(1)])
      return unclean
    },
  }
}
