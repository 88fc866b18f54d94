import { parseOptions, UsageError } from 'fastify-contract/token-command'
import { rethrowWithUrl, storeConfig } from '../config.ts'
import { migrateStore } from '../store/open.ts'

export const migrateHelp = `plant-store migrate [--replication-factor=3]

Creates the Cassandra keyspace and table of STORE_URL where they are missing, and checks them:
cassandra://HOST,HOST,HOST/KEYSPACE?datacenter=NAME

--replication-factor   the replication factor of a new keyspace in that data center; below 3, the URL must have
                       accept_data_loss=true, because plants can then be lost
`

/** Runs `plant-store migrate` with its arguments. Resolves with the text to print. */
export async function migrate(args: string[], environment: NodeJS.ProcessEnv): Promise<string> {
  const { help, given } = parseOptions(args, ['replication-factor'])
  if (help) return migrateHelp
  const { 'replication-factor': factor = '3' } = given
  if (!/^[1-9]\d?$/.test(factor)) throw new UsageError('--replication-factor must be a number from 1 to 99')
  const { storeUrl } = storeConfig({ STORE_URL: environment.STORE_URL })
  return await migrateStore(storeUrl, Number(factor)).catch(rethrowWithUrl(storeUrl))
}
