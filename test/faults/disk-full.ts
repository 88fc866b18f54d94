import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startService } from '../scenarios/built-service.ts'
import type { Report } from '../scenarios/scenario-report.ts'
import type { Scenario, ScenarioOptions } from '../scenarios/scenario-runner.ts'
import { until } from '../support/wait-until.ts'
import { idsOf } from './generated-plants.ts'
import { countOutcomes, isWrong, newJournal, type Outcome, startLoad } from './journaled-load.ts'
import { reportFile } from './sqlite-file.ts'

/** MiB of the disk, and of what lies on it besides the store until there is to be space again. */
const [size, ballastSize] = [16, 4]

/** A full disk is a 503, loses nothing, and is over when there is space. */
export const diskFull: Scenario = {
  title: 'load until the disk of the store is full, then space',
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

async function fill(report: Report, { random }: ScenarioOptions, disk: string): Promise<void> {
  const path = join(disk, 'plants.db')
  const ballast = join(disk, 'ballast')
  writeFileSync(ballast, Buffer.alloc(ballastSize * 2 ** 20))
  const service = await startService(`sqlite:${path}`)
  const journal = newJournal()
  const load = startLoad(service.port, { ids: idsOf(random), journal })

  await until(() => load.outcomes.some(({ status }) => status !== 200))
  await sleep(2_000)
  const whileFull = load.outcomes.length
  rmSync(ballast)
  const space = Date.now()
  const isAfter = ({ sentAt, status }: Outcome) => sentAt >= space && status === 200
  await until(() => load.outcomes.some(isAfter))
  await sleep(500)
  await load.stop()
  const { code } = await service.stop()

  for (const [status, count] of Object.entries(countOutcomes(load.outcomes))) report.figure(`answers: ${status}`, count)
  report.notZero('503 while full', load.outcomes.slice(0, whileFull).filter(({ status }) => status === 503).length)
  report.zero('wrong answers', load.outcomes.filter(isWrong).length)
  report.zero('failed connections', load.outcomes.filter(({ status }) => typeof status === 'string').length)
  report.notZero('200 with space again, without a restart', load.outcomes.filter(isAfter).length)
  report.figure('from space to the first 200 (ms)', (load.outcomes.find(isAfter)?.endedAt ?? Number.NaN) - space)
  report.zero('exit code', code ?? -1)
  reportFile(report, path, journal)
}
