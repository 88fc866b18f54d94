import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from 'fastify-contract-test-support/poll'
import type { Scenario } from 'fastify-contract-test-support/scenario-runner'
import { startService } from '../scenarios/built-service.ts'
import { startClosedLoad } from './closed-loop.ts'
import type { Load } from './response-tally.ts'
import { tokenCommand } from './token-command.ts'

/** The load with each token. */
const load = { clients: 8, pause: 2, refused: 'wait' } as const
/** Deadline for a revocation to take effect (ms). */
const limit = 2_000

/** Neither the revocation of another token nor a broken token file affects a token under load. */
export const revocation: Scenario = {
  title: 'a token is revoked under load, then the token file is broken',
  async run(report, { directory }) {
    const path = join(directory, 'tokens.json')
    const tokens = {
      revoked: await tokenCommand(path, 'create', '--name', 'revoked'),
      kept: await tokenCommand(path, 'create', '--name', 'kept'),
      other: await tokenCommand(path, 'create', '--name', 'other'),
    }
    const service = await startService('memory:', { environment: { ACCESS_TOKENS: '', TOKENS_FILE: path } })
    const { port } = service
    const revoked = startClosedLoad({ port, token: tokens.revoked, ...load })
    const kept = startClosedLoad({ port, token: tokens.kept, ...load })
    const other = startClosedLoad({ port, token: tokens.other, ...load })
    await until(() => [revoked, kept, other].every((one) => good(one) >= 100), '100 responses with 200 for each token')
    const failedBefore = revoked.tally.failed

    await tokenCommand(path, 'revoke', '--name', 'revoked')
    const writtenAt = performance.now()
    // These sleeps are the deadline under test, and one second in which the token must not be accepted.
    await sleep(limit)
    const goodByThen = good(revoked)
    await sleep(1_000)
    const goodAfterwards = good(revoked) - goodByThen

    await writeFile(path, '{ "tokens": [')
    const goodBefore = { kept: good(kept), other: good(other) }
    // Long enough for the service to have read the broken file.
    await sleep(2 * limit)
    await Promise.all([revoked.stop(), kept.stop(), other.stop()])
    const { code } = await service.stop()

    report.zero('revoked client: failures before', failedBefore)
    report.figure('revoked client: last 200 after the change (ms)', Math.round(revoked.tally.lastGoodAt - writtenAt))
    report.zero('revoked client: 200s 2 s after the change', goodAfterwards)
    report.notZero('revoked client: 401s', revoked.tally.counts[401] ?? 0)
    report.figure('revoked client: 429s', revoked.tally.counts[429] ?? 0)
    for (const [name, { tally }] of Object.entries({ kept, other })) {
      report.notZero(`${name} client: 200s`, tally.counts[200] ?? 0)
      report.zero(`${name} client: failures`, tally.failed)
    }
    report.notZero('kept client: 200s with a broken file', good(kept) - goodBefore.kept)
    report.notZero('other client: 200s with a broken file', good(other) - goodBefore.other)
    report.zero('exit code', code ?? 1)
  },
}

const good = ({ tally }: Load): number => tally.counts[200] ?? 0
