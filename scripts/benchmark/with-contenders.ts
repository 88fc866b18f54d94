import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bundle } from '../build/bundle.ts'
import { type Contender, contendersWith } from './contenders.ts'
import { fileSystem } from './disk-sync-times.ts'
import { preparePeers } from './peers.ts'
import { withTemporaryStores } from './temporary-stores.ts'

/**
 * Builds the service, installs its peers and runs a function with all contenders, whose stores are below `directory`.
 * Rejects if `directory` is in memory, where a sync costs nothing, or if `before` has no other build of this service.
 */
export async function withContenders(
  { directory: parent, before }: { directory: string; before?: string | undefined },
  run: (contenders: Record<string, Contender>) => Promise<void>,
): Promise<void> {
  fileSystem(parent)
  if (before !== undefined && !existsSync(join(before, 'dist', 'server.js'))) {
    throw new Error(`--before ${before}: the directory has no dist/server.js; run npm ci and npm run build there`)
  }
  await Promise.all([bundle(), preparePeers()])
  await withTemporaryStores(parent, async ({ directory, postgres }) => {
    await run(contendersWith({ sqlite: directory, postgres }, before))
  })
}
