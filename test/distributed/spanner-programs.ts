import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export type SpannerPrograms = {
  /** The path of `emulator_main`. */
  emulator: string
  /** The class path of PGAdapter. */
  pgadapter: string
}

/** Milliseconds in which Maven must have fetched PGAdapter and what it needs, some 100 MB. */
const patience = 400_000

/**
 * Finds Spanner's emulator, Java and PGAdapter; returns what is missing, and how to install it, as a text. The variables
 * SPANNER_EMULATOR and PGADAPTER_CLASSPATH name the first and the last where they are elsewhere; Maven fetches PGAdapter
 * where the other two are there.
 */
export function spannerPrograms(): SpannerPrograms | string {
  const emulator = process.env.SPANNER_EMULATOR ?? search('emulator_main') ?? besideGcloud()
  if (emulator === undefined || !existsSync(emulator)) {
    return 'there is no Spanner emulator; run gcloud components install cloud-spanner-emulator, or set SPANNER_EMULATOR to emulator_main'
  }
  if (search('java') === undefined) return 'there is no java; PGAdapter needs Java 17'
  const pgadapter = process.env.PGADAPTER_CLASSPATH ?? fetched()
  if (pgadapter === undefined) {
    return 'Maven does not fetch PGAdapter; install mvn, or set PGADAPTER_CLASSPATH to pgadapter.jar and its lib/*'
  }
  return { emulator, pgadapter }
}

/** Returns the path of a program of PATH. */
const search = (name: string) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((directory) => join(directory, name))
    .find((path) => existsSync(path))

/** The components of the Google Cloud CLI are in its own directory, which is on no PATH. */
function besideGcloud(): string | undefined {
  const gcloud = search('gcloud')
  return gcloud && join(dirname(realpathSync(gcloud)), 'cloud_spanner_emulator', 'emulator_main')
}

function fetched(): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-pgadapter-'))
  const file = join(directory, 'classpath')
  const pom = fileURLToPath(new URL('pgadapter.pom.xml', import.meta.url))
  const args = ['--quiet', '--batch-mode', '--file', pom, 'dependency:build-classpath', `-Dmdep.outputFile=${file}`]
  try {
    const { status } = spawnSync('mvn', args, { stdio: 'ignore', timeout: patience })
    return status === 0 ? readFileSync(file, 'utf8') : undefined
  } finally {
    rmSync(directory, { recursive: true })
  }
}
