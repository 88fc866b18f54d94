import { mkdir } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import type { Fault, FaultOptions } from '../fault-options.ts'
import { copyWeaker } from '../weaker-build.ts'
import { type Findings, lookAtImages, type Recorded } from './image-check.ts'
import { type Recording, record } from './record-writes.ts'
import type { Call } from './strace-log.ts'

/** The recorded load, long enough for several checkpoints of 1000 pages each. */
const load = { skip: 0, count: 6_000, clients: 64, killAtSync: 0 }

/** Replacements that make the store sync too seldom. */
const weaker = { 'synchronous = FULL': 'synchronous = NORMAL', 'synchronous !== 2': 'synchronous !== 1' }

/** After a power loss every acknowledged plant is there, whichever unsynced writes the disk has kept. */
export const powerLoss: Fault = {
  title: 'crash images of the disk, computed from a trace of all writes',
  needs: ['strace'],
  async run(report, options) {
    const recording = await newRecording(options, 'store')
    judge(report, 'store', await look(report, options, { recording, calls: await record(recording) }))
    judge(report, 'restart', await look(report, options, await recordRestart(options)))

    const build = await copyWeaker(options.directory, weaker)
    const control = { ...(await newRecording(options, 'control')), build }
    const { losing } = await look(report, options, { recording: control, calls: await record(control) })
    report.notZero('control: images that lost a plant', losing)
  },
}

/** Returns the options of a recording in a new directory. */
async function newRecording({ directory, random }: FaultOptions, name: string): Promise<Recording> {
  await mkdir(join(directory, name))
  return { directory: join(directory, name), build: resolve('dist'), seed: random.below(2 ** 32), ...load }
}

/**
 * Records a restart after a kill: the next process reads unsynced writes and must not acknowledge them yet.
 */
async function recordRestart(options: FaultOptions): Promise<Recorded> {
  const recording = await newRecording(options, 'restart')
  const killed = await record({ ...recording, killAtSync: 30 + options.random.below(30) })
  const skip = killed.filter(({ name }) => name === 'acknowledge').length
  const calls = await record({ ...recording, skip, count: 64, clients: 1 })
  return { recording, calls, after: killed.at(-1)?.end }
}

async function look(report: Report, options: FaultOptions, recorded: Recorded): Promise<Findings> {
  const name = basename(recorded.recording.directory)
  const named = (what: string) => recorded.calls.filter((call) => call.name === what)
  report.notZero(`${name}: acknowledgements`, named('acknowledge').length)
  report.figure(`${name}: syncs`, named('sync').length)
  report.figure(`${name}: starts of the write-ahead log`, recorded.calls.filter(isJournalStart).length)
  report.figure(`${name}: images`, options.images)
  return await lookAtImages(recorded, options)
}

function judge(report: Report, name: string, { losing, missing, lost, broken, phantoms }: Findings): void {
  report.zero(`${name}: images that lost an acknowledged plant`, losing)
  report.zero(`${name}: images without the database file`, missing)
  report.zero(`${name}: acknowledged plants lost`, lost)
  report.zero(`${name}: integrity checks failed`, broken)
  report.zero(`${name}: phantom`, phantoms)
}

const isJournalStart = (call: Call): boolean => call.name === 'write' && call.path.endsWith('-wal') && call.offset === 0
