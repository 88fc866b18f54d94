import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { packages, writePackages } from '../scripts/build/packages.ts'

// Empty folders outside of the repository, so that Node cannot find its sources and its packages.
const directory = mkdtempSync(join(tmpdir(), 'package-tests-'))
t.teardown(() => rmSync(directory, { recursive: true }))

const { PATH, HOME } = process.env
const env = { PATH, HOME, npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' }

/** Runs a command of npm in a folder and returns its output; rejects with the output when the command fails. */
async function npm(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', args, { cwd, env, maxBuffer: 2 ** 28 }).catch((error) => {
    throw new Error(`npm ${args.join(' ')} failed\n${error.stdout.replace(/^ok .*\n/gm, '')}${error.stderr}`)
  })
  return stdout
}

const readManifest = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** Packs the package in a folder, and returns its name with the reference to its file. */
async function packed(folder: string): Promise<[name: string, file: string]> {
  const file = await npm(folder, 'pack', '--silent', '--pack-destination', directory)
  return [readManifest(folder).name, `file:${join(directory, file.trim())}`]
}

const sources = packages.map((name) => join(directory, 'built', name))
await writePackages(join(directory, 'built'))
const files = Object.fromEntries(await Promise.all([...sources, 'packages/test-support'].map(packed)))
const { overrides, dependencies } = readManifest('.')

// As in this repository, a directory above the commands depends on their version: init takes them for published ones.
const commands = 'fastify-contract-cli'
writeFileSync(join(directory, 'package.json'), JSON.stringify({ dependencies: { [commands]: dependencies[commands] } }))
mkdirSync(join(directory, 'node_modules'))
symlinkSync(join(directory, commands), join(directory, 'node_modules', commands))

const tested = [...packages, 'test-support'].filter((name) => readManifest(join('packages', name)).scripts.test)

for (const name of tested)
  t.test(`a copy of ${name} alone passes its own tests`, { timeout: 60 * 60_000 }, async (t) => {
    const folder = join('packages', name)
    const copy = join(directory, name)
    const left = ['node_modules', '.tap']
    cpSync(folder, copy, { recursive: true, filter: (path) => !left.includes(basename(path)) })
    const manifest = readManifest(copy)
    for (const dependencies of [manifest.dependencies, manifest.devDependencies ?? {}])
      for (const own of Object.keys(dependencies)) dependencies[own] = files[own] ?? dependencies[own]
    writeFileSync(join(copy, 'package.json'), JSON.stringify({ ...manifest, overrides: { ...overrides, ...files } }))
    const start = performance.now()
    await npm(copy, 'install', '--ignore-scripts')
    const installed = performance.now()
    const [, counts = ''] = /^# \{ (total: .*) \}$/m.exec(await npm(copy, 'test', '--', '--jobs=2')) ?? []
    t.match(counts, /^total: \d{2,}, pass: \d+(?:, skip: \d+)?$/)
    const seconds = [installed - start, performance.now() - installed].map((time) => Math.round(time / 1_000))
    t.comment(`${counts}; installed in ${seconds[0]} s, tested in ${seconds[1]} s`)
  })
