import { hash, randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { cacheDirectory } from './cache-directory.ts'
import { hasState } from './file-state.ts'
import { toolDigest } from './tool-digest.ts'

/** A run of `generate` that succeeded. Each state belongs to a path. */
export type Run = {
  /** The states of the files that the run has read, and of those that it has looked for. */
  inputs: [path: string, state: string][]
  /** The states of the generated files. */
  outputs: [path: string, state: string][]
  /** The lines that the run has printed about the document. */
  warnings: string[]
}

/** What a run depends on, besides files. */
export type RunOptions = { document: string; out: string } & Record<string, string | boolean | undefined>

/** The limits of what is kept: the bytes of one record, and the number of records in one directory. */
export const recordLimits = { bytes: 2 ** 21, count: 32 }

/** The name of a record, which is a digest. */
const recordName = /^[\da-f]{64}\.json$/

/**
 * The record of the last run of `generate` with some options in the current directory. It is in the nearest
 * node_modules, which no one commits, so that a fresh clone does the whole work. Without node_modules there is none.
 */
export class RunRecord {
  readonly #directory: string
  readonly #path: string
  readonly #key: string

  private constructor(directory: string, options: RunOptions) {
    this.#directory = directory
    const { document, out } = options
    this.#path = join(this.#directory, `${hash('sha256', JSON.stringify([process.cwd(), document, out]))}.json`)
    this.#key = hash('sha256', JSON.stringify([toolDigest(), options]))
  }

  static of(options: RunOptions): RunRecord | undefined {
    const directory = cacheDirectory(resolve())
    return directory === undefined ? undefined : new RunRecord(directory, options)
  }

  /**
   * Returns the last run if it would be the same now: with the same tool and options, and if each file has the bytes
   * that it had then. Returns undefined for a record that was written in part, or by another version.
   */
  unchanged(): Run | undefined {
    try {
      if (statSync(this.#path).size > recordLimits.bytes) return undefined
      const { key, run } = JSON.parse(readFileSync(this.#path, 'utf8')) as { key: string; run: Run }
      if (key !== this.#key) return undefined
      const { inputs, outputs } = run
      return [...inputs, ...outputs].every(([path, state]) => hasState(path, state)) ? run : undefined
    } catch {
      return undefined
    }
  }

  /**
   * Keeps a run. Another process sees the whole record or the one before. Keeps nothing if the record is too large, or
   * if the directory cannot be written: the next run is a whole one.
   */
  keep(run: Run): void {
    const text = JSON.stringify({ key: this.#key, run })
    if (Buffer.byteLength(text) > recordLimits.bytes) return
    const part = `${this.#path}.${randomUUID()}`
    try {
      mkdirSync(this.#directory, { recursive: true })
      try {
        writeFileSync(part, text)
        renameSync(part, this.#path)
      } finally {
        rmSync(part, { force: true })
      }
      this.#removeOld()
    } catch {
      // The directory is read-only, the disk is full, or another process removes records, too.
    }
  }

  /** Removes the oldest records above the limit, and what processes left that were killed while they wrote. */
  #removeOld(): void {
    const entries = readdirSync(this.#directory, { withFileTypes: true }).filter((entry) => entry.isFile())
    const files = entries.map(({ name }) => ({ name, time: timeOf(join(this.#directory, name)) }))
    files.sort((one, other) => other.time - one.time)
    const records = files.filter(({ name }) => recordName.test(name))
    const parts = files.filter(({ name, time }) => !recordName.test(name) && time < Date.now() - 60_000)
    for (const { name } of [...records.slice(recordLimits.count), ...parts])
      rmSync(join(this.#directory, name), { force: true })
  }
}

/** Returns the time of the last change of a file; 0 if another process has removed it. */
const timeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
