import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export type SpannerPrograms = {
  /** Path of `emulator_main`. */
  emulator: string
  /** Class path of PGAdapter. */
  pgadapter: string
}

/** Timeout (ms) for Maven to fetch a program and its dependencies, about 100 MB. */
const patience = 400_000

/**
 * Finds Spanner's emulator, Java and PGAdapter. If one is missing, returns a text with its name and how to install it.
 * SPANNER_EMULATOR overrides the path of the emulator. PGADAPTER_CLASSPATH overrides the class path of PGAdapter, which
 * Maven otherwise fetches.
 */
export function spannerPrograms(): SpannerPrograms | string {
  const emulator = process.env.SPANNER_EMULATOR ?? search('emulator_main') ?? besideGcloud()
  if (emulator === undefined || !existsSync(emulator)) {
    return 'Spanner emulator not found; run "gcloud components install cloud-spanner-emulator" or set SPANNER_EMULATOR'
  }
  if (search('java') === undefined) return 'java not found; PGAdapter needs Java 17'
  const pgadapter = process.env.PGADAPTER_CLASSPATH ?? mavenClasspath('pgadapter.pom.xml')
  if (pgadapter === undefined) {
    return 'Maven could not fetch PGAdapter; install mvn, or set PGADAPTER_CLASSPATH to pgadapter.jar and its lib/*'
  }
  return { emulator, pgadapter }
}

/** Returns the path of a program on PATH; undefined if there is none. */
export const search = (name: string) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((directory) => join(directory, name))
    .find((path) => existsSync(path))

/** Returns the emulator's path in the installation of the Google Cloud CLI, whose components are not on PATH. */
function besideGcloud(): string | undefined {
  const gcloud = search('gcloud')
  return gcloud && join(dirname(realpathSync(gcloud)), 'cloud_spanner_emulator', 'emulator_main')
}

/** Fetches the dependencies of a project with Maven and returns their class path; undefined when that fails. */
export function mavenClasspath(project: string): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-maven-'))
  const file = join(directory, 'classpath')
  const pom = fileURLToPath(new URL(project, import.meta.url))
  const args = ['--quiet', '--batch-mode', '--file', pom, 'dependency:build-classpath', `-Dmdep.outputFile=${file}`]
  try {
    const { status } = spawnSync('mvn', args, { stdio: 'ignore', timeout: patience })
    return status === 0 ? readFileSync(file, 'utf8') : undefined
  } finally {
    rmSync(directory, { recursive: true })
  }
}
