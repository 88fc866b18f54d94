import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { bundle } from '../build/bundle.ts'
import { startPostgres } from '../postgres/temporary-postgres.ts'
import { testDatabase } from '../postgres/test-database.ts'
import { type Contender, contendersWith } from './contenders.ts'
import { fileSystem } from './disk-syncs.ts'
import { preparePeers } from './peers.ts'

/**
 * Builds the service and installs its peers, hands over all contenders, whose stores are in `parent`, and removes at the
 * end what they have left. PostgreSQL is started when it is first asked for. Rejects when `parent` is in memory.
 */
export async function withContenders(
  parent: string,
  run: (contenders: Record<string, Contender>) => Promise<void>,
): Promise<void> {
  fileSystem(parent)
  await Promise.all([bundle(), preparePeers()])
  const directory = await mkdtemp(join(parent, 'plant-store-'))
  const cleanUps = [() => rm(directory, { recursive: true })]
  const postgres = async () => {
    process.env.TEST_DATABASE_URL ??= (await startPostgres({ parent })).url()
    return await testDatabase({ teardown: (cleanUp) => cleanUps.push(cleanUp) })
  }
  try {
    await run(contendersWith({ sqlite: directory, postgres }))
  } finally {
    // What failed before is what matters.
    await Promise.allSettled(cleanUps.map((cleanUp) => cleanUp()))
  }
}
