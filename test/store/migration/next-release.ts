import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Plugin } from 'esbuild'
import type { Test } from 'tap'
import { bundle } from '../../../scripts/build/bundle.ts'

/** The commands of a bundle, to which arguments are appended. */
export type Release = { server: string[]; plantStore: string[] }

const commandsIn = (directory: string): Release => ({
  server: [process.execPath, join(directory, 'dist', 'server.js')],
  plantStore: [process.execPath, join(directory, 'dist', 'plant-store.js')],
})

/** Builds this release and a next one, which adds the steps of note-steps.ts and stores a note with each plant. */
export async function buildReleases(t: Test): Promise<{ old: Release; next: Release }> {
  const parent = mkdtempSync(join(tmpdir(), 'plant-store-releases-'))
  t.teardown(() => rmSync(parent, { recursive: true }))
  const build = async (name: string, plugins: Plugin[]) => {
    const directory = join(parent, name)
    await bundle(join(directory, 'dist'), plugins)
    for (const file of ['package.json', 'generated/openapi.json', 'generated/routes.json']) {
      cpSync(file, join(directory, file))
    }
    symlinkSync(resolve('node_modules'), join(directory, 'node_modules'))
    return commandsIn(directory)
  }
  const left = new Set(changes.map(({ from }) => from))
  const [old, next] = await Promise.all([build('old', []), build('next', [nextSource(left)])])
  if (left.size > 0)
    throw new Error(`the source does not contain "${[...left].join('", "')}"; adapt the test to the code`)
  return { old, next }
}

const steps = JSON.stringify(resolve('test/store/migration/note-steps.ts'))

const changes: { file: RegExp; from: string; to: string }[] = [
  {
    file: /postgres-steps\.ts$/,
    from: 'export const postgresSteps: SchemaStep[] = []',
    to: `export { postgresNote as postgresSteps } from ${steps}`,
  },
  {
    file: /sqlite-steps\.ts$/,
    from: 'export const sqliteSteps: SchemaStep[] = []',
    to: `export { sqliteNote as sqliteSteps } from ${steps}`,
  },
  {
    // Matches the INSERT statement, whichever source its rows come from.
    file: /postgres-primary\.ts$/,
    from: 'client.query<Row>(text, values)',
    to: `client.query<Row>(text.replace(
      /INSERT INTO plants \\(id, name, tag\\) (.*?) (?=ON CONFLICT)/gs,
      'INSERT INTO plants (id, name, tag, note) ' +
        'SELECT id::bigint, name, tag, upper(name) FROM ($1) AS written (id, name, tag) ',
    ), values)`,
  },
  {
    file: /sqlite[\w-]*\.ts$/,
    from: "'INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING'",
    to: `\`INSERT INTO plants (id, name, tag, note) SELECT id, name, tag, upper(name)
      FROM (SELECT ? AS id, ? AS name, ? AS tag) WHERE true ON CONFLICT DO NOTHING\``,
  },
]

/** Applies `changes` to the source of the stores, and removes from `left` each text that was found. */
const nextSource = (left: Set<string>): Plugin => ({
  name: 'next-release',
  setup(build) {
    build.onLoad({ filter: /\/src\/store\/[\w-]+\.ts$/ }, ({ path }) => {
      let contents = readFileSync(path, 'utf8')
      for (const { file, from, to } of changes) {
        if (!file.test(path) || !contents.includes(from)) continue
        left.delete(from)
        contents = contents.replaceAll(from, to)
      }
      return { contents, loader: 'ts' }
    })
  },
})
