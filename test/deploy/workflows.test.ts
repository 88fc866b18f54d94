import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'

type Step = { uses?: string; run?: string; with?: Record<string, unknown> }
type Job = {
  uses?: string
  steps?: Step[]
  permissions?: object
  'timeout-minutes'?: number
  needs?: string | string[]
}
type Workflow = {
  permissions?: object
  concurrency?: object
  jobs: Record<string, Job & { strategy?: { matrix: { node?: string[]; part?: string[] } } }>
}

const folder = join('.github', 'workflows')
const texts = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
const workflows = new Map(Array.from(texts, ([name, text]) => [name, parse(text) as Workflow]))
const jobs = [...workflows].flatMap(([file, { jobs }]) =>
  Object.entries(jobs).map(([name, job]) => ({ name: `${file} ${name}`, job })),
)
const steps = jobs.flatMap(({ name, job }) => (job.steps ?? []).map((step) => ({ name, step })))
const manifest = JSON.parse(readFileSync('package.json', 'utf8'))

t.test(
  'third-party actions are pinned by commit, with the version in a comment, and the same everywhere',
  async (t) => {
    const pins = [...texts.values()].flatMap((text) =>
      Array.from(text.matchAll(/uses: (?!\.\/)(.*)$/gm), ([, pin]) => String(pin)),
    )
    t.ok(pins.length > 0)
    for (const pin of pins) t.match(pin, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    t.equal(new Set(pins).size, new Set(pins.map((pin) => pin.split('@')[0])).size)
    for (const { job } of jobs) if (job.uses !== undefined) t.ok(existsSync(job.uses), job.uses)
  },
)

t.test('workflows have no permissions; jobs declare theirs and a time limit', async (t) => {
  for (const [name, { permissions, concurrency }] of workflows) {
    t.same(permissions, {}, name)
    t.ok(concurrency, name)
  }
  for (const { name, job } of jobs) {
    t.ok(job.permissions, `${name} declares its permissions`)
    if (job.uses === undefined) t.ok(Number(job['timeout-minutes']) > 0, `${name} has a time limit`)
  }
})

t.test('no job with write access runs packages, and no step keeps the checkout token', async (t) => {
  for (const { name, job } of jobs) {
    const mayWrite = Object.values(job.permissions ?? {}).includes('write')
    const runsPackages = job.steps?.some(({ run = '' }) => /\bnp[mx] |\.ci\//.test(run)) ?? false
    t.notOk(mayWrite && runsPackages, name)
  }
  for (const { name, step } of steps) {
    if (step.uses?.startsWith('actions/checkout@')) t.equal(step.with?.['persist-credentials'], false, name)
  }
})

t.test('a release depends on the checks', async (t) => {
  const released = workflows.get('release.yaml')?.jobs ?? {}
  for (const [name, { permissions, needs = [] }] of Object.entries(released)) {
    if (Object.values(permissions ?? {}).includes('write')) t.ok([needs].flat().includes('checks'), name)
  }
  t.equal(released.checks?.uses, './.github/workflows/ci.yaml')
  t.ok(steps.some(({ step }) => step.run === '.ci/run'))
})

t.test('the notes of a release are the section of its version in the changelog', async (t) => {
  const run = steps.map(({ step }) => step.run ?? '').find((text) => text.includes('CHANGELOG.md')) as string
  const notes = (tag: string) =>
    execFileSync('bash', ['-c', run.replace(/ > \S+$/, '')], {
      encoding: 'utf8',
      env: { ...process.env, GITHUB_REF_NAME: tag },
    })
  t.match(notes('v1.0.0'), /^\n- `POST \/plants` creates a plant/)
  t.equal(notes('v1.0'), '')
  t.match(readFileSync('CHANGELOG.md', 'utf8'), `## ${manifest.version} - 20`, 'the release has a date')
})

t.test('the commands of the workflows exist', async (t) => {
  const names = steps.flatMap(({ step }) =>
    Array.from(String(step.run).matchAll(/npm run (?:--\S+ )*(\S+)/g), ([, name]) => String(name)),
  )
  t.ok(names.length > 0)
  for (const name of names) t.ok(Object.hasOwn(manifest.scripts, name), name)
  const files = Array.from(String(texts.get('release.yaml')).matchAll(/npx tsx (\S+)/g), ([, file]) => String(file))
  for (const file of files) t.ok(existsSync(file), file)
})

t.test('tests also run on the oldest supported Node, and the checks on that of .nvmrc', async (t) => {
  const { checks, tests } = workflows.get('ci.yaml')?.jobs ?? {}
  t.equal(`>=${tests?.strategy?.matrix.node?.[0]}`, manifest.engines.node)
  t.ok(checks?.steps?.some((step) => step.with?.['node-version-file'] === '.nvmrc'))
})

t.test('each part of .ci/nightly runs every night', async (t) => {
  const [, parts = ''] = /^parts=\((.*)\)$/m.exec(readFileSync('.ci/nightly', 'utf8')) ?? []
  t.same(workflows.get('nightly.yaml')?.jobs.parts?.strategy?.matrix.part, parts.split(' '))
})

t.test('the development container has the Node that the image is built with', async (t) => {
  const { image } = JSON.parse(readFileSync('.devcontainer/devcontainer.json', 'utf8'))
  t.match(readFileSync('Dockerfile', 'utf8'), `FROM ${image} AS build\n`)
})

t.test('folders and packages of the update bot exist', async (t) => {
  type Update = {
    'package-ecosystem': string
    directory: string
    ignore?: { 'dependency-name': string; versions?: string[] }[]
  }
  const { updates } = parse(readFileSync('.github/dependabot.yml', 'utf8')) as { updates: Update[] }
  for (const { directory, ignore = [], ...update } of updates) {
    t.ok(existsSync(join('.', directory)), directory)
    if (update['package-ecosystem'] !== 'npm') continue
    const project = JSON.parse(readFileSync(join('.', directory, 'package.json'), 'utf8'))
    const { dependencies, optionalDependencies, devDependencies } = project
    const installed: Record<string, string> = { ...dependencies, ...optionalDependencies, ...devDependencies }
    for (const { 'dependency-name': name, versions = [] } of ignore) {
      t.ok(Object.hasOwn(installed, name), name)
      for (const range of versions) {
        const [, least = ''] = /^>=(\d+)$/.exec(range) ?? []
        t.ok(Number.parseInt(String(installed[name]), 10) < Number(least), `${name} is older than ${range}`)
      }
    }
  }
})
