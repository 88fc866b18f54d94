import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { holdsWithin } from 'fastify-contract-test-support/poll'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import { startService } from '../scenarios/built-service.ts'
import type { Fault, FaultOptions } from './fault-options.ts'
import { idsOf } from './generated-plants.ts'
import { startLoad } from './journaled-load.ts'
import { count, isAcknowledged, isDisconnected, isUnavailable, type Outcome, reportOutcomes } from './outcomes.ts'
import { reportFile } from './sqlite-file.ts'

/** Sizes (MiB) of the disk, and of a ballast file that is deleted to free space again. */
const [size, ballastSize] = [16, 4]

/** Milliseconds of load while the disk is full. */
const fullTime = 2_000

/** Number of writes that must succeed once there is space. */
const plantsAfter = 100

/** A full disk causes 503 but no loss; once there is space the service recovers without a restart. */
export const diskFull: Fault = {
  title: 'load fills the disk of the store, then space is freed',
  needs: ['root on Linux'],
  async run(report, options) {
    const disk = join(options.directory, 'disk')
    await mkdir(disk)
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}m`, 'tmpfs', disk], { stdio: 'pipe' })
    } catch {
      return report.notRun('the right to mount a tmpfs')
    }
    const unmount = () => execFileSync('umount', ['--lazy', disk])
    process.once('exit', unmount)
    await fill(report, options, disk)
    process.off('exit', unmount)
    unmount()
  },
}

async function fill(report: Report, { random }: FaultOptions, disk: string): Promise<void> {
  const path = join(disk, 'plants.db')
  const ballast = join(disk, 'ballast')
  writeFileSync(ballast, Buffer.alloc(ballastSize * 2 ** 20))
  const service = await startService(`sqlite:${path}`)
  const load = startLoad(service.port, { ids: idsOf(random) })

  await holdsWithin(60_000, () => !load.outcomes.every(isAcknowledged))
  await sleep(fullTime)
  const whileFull = load.outcomes.length
  rmSync(ballast)
  const space = Date.now()
  const isAfter = (outcome: Outcome) => outcome.sentAt >= space && isAcknowledged(outcome)
  await holdsWithin(60_000, () => count(load.outcomes, isAfter) >= plantsAfter)
  await load.stop()
  const { code } = await service.stop()

  reportOutcomes(report, load.outcomes)
  report.notZero('503 while full', count(load.outcomes.slice(0, whileFull), isUnavailable))
  report.zero('failed connections', count(load.outcomes, isDisconnected))
  report.notZero('200 after space was freed, without a restart', count(load.outcomes, isAfter))
  report.figure('from free space to the first 200 (ms)', (load.outcomes.find(isAfter)?.endedAt ?? Number.NaN) - space)
  report.zero('exit code', code ?? -1)
  reportFile(report, path, load.journal)
}
