import { bundle } from '../build/bundle.ts'
import { type Contender, contendersWith } from './contenders.ts'
import { fileSystem } from './disk-syncs.ts'
import { preparePeers } from './peers.ts'
import { withTemporaryStores } from './temporary-stores.ts'

/**
 * Builds the service, installs its peers and runs a function with all contenders, whose stores are below the directory
 * `parent`. Rejects when that is in memory, where a sync costs nothing.
 */
export async function withContenders(
  parent: string,
  run: (contenders: Record<string, Contender>) => Promise<void>,
): Promise<void> {
  fileSystem(parent)
  await Promise.all([bundle(), preparePeers()])
  await withTemporaryStores(parent, async ({ directory, postgres }) => {
    await run(contendersWith({ sqlite: directory, postgres }))
  })
}
