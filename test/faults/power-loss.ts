import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Journal } from './load.ts'
import { idsOf, plantOf } from './plants.ts'
import { changesOf, writeImage } from './power-loss/disk.ts'
import { copyWeaker, record, storeFile } from './power-loss/record.ts'
import type { Call } from './power-loss/trace.ts'
import { randomOf } from './random.ts'
import type { Report } from './report.ts'
import type { Scenario, ScenarioOptions } from './scenario.ts'
import { inspect } from './sqlite-file.ts'

/** How many plants are created: enough for several checkpoints of 1000 pages. */
const count = 6_000

/** Every how manieth image is opened by the store itself. */
const sample = 10

/** What was acknowledged before the power is lost must be there after it, whatever of the rest the disk has kept. */
export const powerLoss: Scenario = {
  title: 'images of the disk as a power loss leaves it, from a recording of all writes',
  needs: ['strace'],
  async run(report, options) {
    const findings = await lookAtImages(report, options, { name: 'store', build: resolve('dist') })
    report.zero('images that lost an acknowledged plant', findings.losing)
    report.zero('images without the file of the store', findings.missing)
    report.zero('acknowledged plants lost', findings.lost)
    report.zero('integrity checks failed', findings.broken)
    report.zero('phantom', findings.phantoms)
    const control = await lookAtImages(report, options, { name: 'control', build: await copyWeaker(options.directory) })
    report.notZero('images of the control that lost a plant', control.losing)
  },
}

type Recorded = { name: string; build: string }

async function lookAtImages(report: Report, options: ScenarioOptions, { name, build }: Recorded) {
  const { random, images } = options
  const directory = join(options.directory, name)
  await mkdir(directory)
  const seed = random.below(2 ** 32)
  const calls = await record({ directory, build, seed, count })
  const changes = changesOf(calls, directory)
  const ids = idsOf(randomOf(seed))
  const sent = new Set(Array.from({ length: count }, () => ids.next().value as bigint))
  const [first = 0, last = 0] = [calls[0]?.start, calls.at(-1)?.end]

  report.figure(`${name}: plants acknowledged`, acknowledgedBefore(calls, last + 1).size)
  report.figure(`${name}: syncs`, calls.filter((call) => call.name === 'sync').length)
  report.figure(`${name}: starts of the journal`, calls.filter(isJournalStart).length)
  report.figure(`${name}: images`, images)
  const findings = { losing: 0, missing: 0, lost: 0, broken: 0, phantoms: 0 }
  for (let index = 0; index < images; index++) {
    const cut = first + random.below(last + 2 - first)
    const to = join(options.directory, 'image')
    const path = join(to, storeFile)
    await mkdir(to)
    const acknowledged = acknowledgedBefore(calls, cut)
    writeImage({ changes, cut, random, from: directory, to })
    if (acknowledged.size > 0 && !existsSync(path)) findings.missing++
    const journal = { sent, acknowledged }
    const byStore = index % sample === 0 ? await countLost(path, journal) : 0
    const { lost, phantoms, intact } = inspect(path, journal, { readonly: false })
    await rm(to, { recursive: true })
    if (lost + byStore > 0) findings.losing++
    if (!intact) findings.broken++
    findings.lost += Math.max(lost, byStore)
    findings.phantoms += phantoms
  }
  return findings
}

const isJournalStart = (call: Call): boolean => call.name === 'write' && call.path.endsWith('-wal') && call.offset === 0

const acknowledgedBefore = (calls: Call[], cut: number): Set<bigint> =>
  new Set(calls.flatMap((call) => (call.name === 'acknowledge' && call.start < cut ? [call.id] : [])))

/** How many plants the store itself does not have any more; all of them when it does not open. */
async function countLost(path: string, { acknowledged }: Journal): Promise<number> {
  const { openStore } = (await import(resolve('dist/store.js'))) as typeof import('../../src/store/open.ts')
  try {
    const store = await openStore(`sqlite:${path}`)
    const outcomes = await Promise.all([...acknowledged].map((id) => store.create(plantOf(id))))
    await store.close()
    return outcomes.filter((outcome) => outcome !== 'identical').length
  } catch (error) {
    process.stderr.write(`the store refused an image: ${(error as Error).message}\n`)
    return acknowledged.size
  }
}
