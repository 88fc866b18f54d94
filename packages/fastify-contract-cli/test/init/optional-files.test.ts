import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { environmentVariables } from 'fastify-contract/config'
import { UsageError } from 'fastify-contract/token-command'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { run as init } from '../../src/cli/init.ts'
import { dockerfile } from '../../src/init/files/dockerfile.ts'
import { leaveOut } from '../../src/init/optional-files.ts'
import type { Project } from '../../src/init/project.ts'
import { enterDirectory } from '../support/enter-directory.ts'
import { ownPath } from '../support/own-path.ts'

/** Runs init without the documentation, which takes seconds. */
const run = (args: string[]) => init(['--without', 'docs', ...args])

const documentOf = (security: object[]) =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Pet Store', version: '1.0.0' },
    security,
    paths: { '/pets': { get: { operationId: 'listPets', responses: { 204: { description: 'No pets.' } } } } },
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  })
const document = documentOf([{ token: [] }])

const all = [
  ...['Dockerfile', '.dockerignore', '.github/workflows/ci.yaml', 'AGENTS.md', '.env.example', '.editorconfig'],
  ...['.gitignore', 'README.md'],
]
const read = (name: string) => readFileSync(join('new', name), 'utf8')
/** Enters a directory, runs init for the project `new`, the root of a repository, and returns what init printed. */
async function writeProject(t: Test, files = {}, args: string[] = []): Promise<string> {
  enterDirectory(t, { 'pets.json': document, new: { '.git': {} }, ...files })
  const printed = t.capture(console, 'log')
  await run(['pets.json', 'new', ...args])
  return printed()[0]?.args[0]
}

const written = () => all.filter((name) => existsSync(join('new', name)))

t.test('a project has the files to ship it, small ones without long lines', async (t) => {
  await writeProject(t)
  t.same(written(), all)
  t.ok(all.reduce((sum, name) => sum + read(name).length, 0) < 12_000)
  t.ok(read('AGENTS.md').split('\n').length < 60)
  for (const name of all)
    for (const line of read(name).split('\n')) {
      t.notMatch(line, / $/, name)
      // Tables and the program of the health check.
      if (!/^\||HEALTHCHECK|^ {2}CMD/.test(line)) t.ok(line.length <= 125, `${name}: ${line}`)
    }
  const { scripts } = JSON.parse(read('package.json'))
  t.match(scripts, { typecheck: 'fastify-contract typecheck', lint: / typecheck$/ })
  t.match(read('src/server.ts'), "  environmentFile: '.env',\n")
  for (const name of ['Dockerfile', 'AGENTS.md', '.env.example']) t.match(read('README.md'), `| \`${name}\` |`)
})

t.test('the image has production dependencies, a user with a number, and node as its first process', async (t) => {
  await writeProject(t)
  const lines = read('Dockerfile').split('\n')
  const [manifests, production, build, last] = read('Dockerfile')
    .split(/^FROM /m)
    .slice(1)
  t.match(manifests, /^node:\d+-[a-z]+-slim AS manifests\nWORKDIR \S+\nCOPY package\.json package-lock\.json \.\/\n$/m)
  t.match(production, / npm ci --omit=dev\n/)
  t.match(build, / npm ci\nCOPY \. \.\n(?:#.*\n)*RUN npm run docs && /)
  t.match(last, /^USER [1-9]\d*:[1-9]\d*$/m)
  t.match(last, /^COPY --from=production \S+\/node_modules node_modules$/m)
  t.match(last, /\nENTRYPOINT \["node", "src\/server\.ts"\]\n$/)
  t.notMatch(lines.join('\n'), /LABEL|ARG|curl/)
  const [, command = ''] = /^HEALTHCHECK .*\\\n {2}CMD (.*)$/m.exec(lines.join('\n')) ?? []
  const [program, ...args] = JSON.parse(command)
  t.equal(program, 'node')
  // Nothing listens on this port.
  const { status } = spawnSync(process.execPath, args, { env: { MANAGEMENT_PORT: '1' } })
  t.equal(status, 1)
  const ignored = read('.dockerignore').split('\n')
  for (const name of ['**/.env', '**/.env.*', '**/.git', '**/node_modules']) t.ok(ignored.includes(name), name)
})

t.test('an image installs the packages that a project has as files', async (t) => {
  const made = (engine: string) =>
    dockerfile({
      compiled: { routes: { info: { title: 'a' } } },
      packages: { dependencies: { engine }, devDependencies: { other: '^1.0.0' } },
      manager: 'npm',
    } as unknown as Project)
  t.match(made('file:vendor/a.tgz'), '\nCOPY package.json package-lock.json ./\nCOPY vendor vendor\n\nFROM ')
  t.match(made('^1.0.0'), '\nCOPY package.json package-lock.json ./\n\nFROM ')
})

t.test('the workflow checks what a reader of the project is told to run, with the least permissions', async (t) => {
  await writeProject(t)
  const workflow = parse(read('.github/workflows/ci.yaml'))
  t.same([workflow.permissions, workflow.jobs.checks.permissions], [{}, { contents: 'read' }])
  const steps: Record<string, string>[] = workflow.jobs.checks.steps
  for (const { uses } of steps) if (uses !== undefined) t.match(uses, /^[\w-]+\/[\w-]+@[\da-f]{40}$/)
  const programs = steps.flatMap(({ run = [] }) => run)
  t.same(programs.slice(0, -1), [
    ...['npm ci', 'npx fastify-contract generate --check', 'npm run typecheck', 'npm test', 'docker build .'],
    'npx fastify-contract changes --format github',
  ])
  for (const program of programs) t.notMatch(program, '${{', 'no text of an event is a word of a shell')
})

t.test('the workflow lists the changes of a pull request in the summary', async (t) => {
  await writeProject(t)
  const { steps } = parse(read('.github/workflows/ci.yaml')).jobs.checks
  t.equal(steps[0].with['fetch-depth'], 2)
  const { if: condition, run: program } = steps.at(-1)
  t.equal(condition, "github.event_name == 'pull_request'")
  const git = (...args: string[]) =>
    spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', '-C', 'new', ...args], { encoding: 'utf8' })
  const runStep = () => {
    const cli = `npx() { shift; '${process.execPath}' --import tsx '${resolve(ownPath('src/cli.ts'))}' "$@"; }`
    const env = { ...process.env, RUNNER_TEMP: resolve('.'), GITHUB_STEP_SUMMARY: resolve('summary.md') }
    return spawnSync('bash', ['-e', '-c', `${cli}\n${program}`], { cwd: 'new', env, encoding: 'utf8' })
  }
  rmSync('new/.git', { recursive: true })
  git('init')
  git('commit', '--allow-empty', '-m', 'base without a contract')
  git('add', '.')
  git('commit', '-m', 'contract')
  t.match(runStep(), { status: 0, stdout: '' })
  t.notOk(existsSync('summary.md'))
  const changed = document.replace('listPets', 'findPets')
  writeFileSync('new/pets.json', changed)
  git('commit', '-a', '-m', 'change')
  const { status, stderr } = runStep()
  t.equal(status, 0, stderr)
  t.match(readFileSync('summary.md', 'utf8'), /^### Changes of `pets\.json`: \d breaking/)
  // The document as it is in the base has no changes: the generated one says the same.
  git('commit', '--allow-empty', '-m', 'none')
  rmSync('summary.md')
  writeFileSync('new/pets.json', document)
  t.equal(runStep().status, 0)
  t.equal(readFileSync('summary.md', 'utf8'), '### No changes of `pets.json`\n')
})

t.test('a project without an image does not mention one', async (t) => {
  await writeProject(t, {}, ['--without', 'docker,docs'])
  for (const name of ['.github/workflows/ci.yaml', 'README.md']) t.notMatch(read(name), /docker/i)
})

const hasActionlint = spawnSync('actionlint', ['-version']).status === 0
const skip = hasActionlint ? false : 'NOT RUN: actionlint is not installed'
t.test('actionlint accepts the workflow', { skip }, async (t) => {
  await writeProject(t, { 'pnpm-lock.yaml': '' })
  const { status, stdout } = spawnSync('actionlint', [join('new', '.github/workflows/ci.yaml')], { encoding: 'utf8' })
  t.same([status, stdout], [0, ''])
})

t.test('a project of pnpm builds and checks with pnpm', async (t) => {
  await writeProject(t, { 'pnpm-lock.yaml': '' })
  t.match(
    read('Dockerfile'),
    /^RUN npm install --global pnpm@\d+\nCOPY package\.json pnpm-lock\.yaml pnpm-workspace\.yaml \.\/$/m,
  )
  t.match(read('Dockerfile'), ' pnpm install --frozen-lockfile --prod\n')
  t.match(
    read('.github/workflows/ci.yaml'),
    /- run: npm install --global pnpm@\d+\n +- run: pnpm install --frozen-lockfile\n/,
  )
  for (const name of ['AGENTS.md', 'README.md']) t.notMatch(read(name), /(?<!p)npm/, name)
})

t.test('.env.example has variables of the engine with their defaults, as comments without quotes', async (t) => {
  await writeProject(t)
  const defaults = new Map(Object.entries<{ default?: unknown }>(environmentVariables))
  for (const line of read('.env.example').split('\n')) {
    t.match(line, /^#|^$/)
    t.notMatch(line, /^# \w+=.*["' ]/)
    const [, name, value] = /^# ([A-Z_]+)=(.*)$/.exec(line) ?? []
    if (name === undefined) continue
    t.ok(defaults.has(name), name)
    const known = String(defaults.get(name)?.default)
    if (known !== '') t.equal(value, known, name)
  }
})

t.test('tokens are mentioned only if an operation needs them', async (t) => {
  await writeProject(t, { 'open.json': documentOf([{}]) })
  t.match(read('.env.example'), /^# ACCESS_TOKENS=$/m)
  t.match(read('README.md'), '--env ACCESS_TOKENS')
  await run(['open.json', 'open'])
  t.notMatch(readFileSync('open/.env.example', 'utf8'), /TOKENS/)
  t.notMatch(readFileSync('open/README.md', 'utf8'), /--env|openssl/)
})

t.test('--without leaves out parts, and names what it does not know', async (t) => {
  const printed = await writeProject(t, {}, ['--without', 'docker, workflow,agents,env,editorconfig,readme,docs'])
  t.same(written(), ['.gitignore'])
  t.notMatch(printed, 'Left out')
  await t.rejects(run(['pets.json', 'other', '--without', 'docker,image']), {
    name: new UsageError('').name,
    message:
      'init: --without has "image"; expected some of docker,workflow,agents,env,editorconfig,gitignore,readme,docs',
  })
  t.notOk(existsSync('other'))
})

t.test('files that the service does not need are kept and named, and their parts left out', async (t) => {
  const own = { Dockerfile: 'mine', 'README.md': 'mine', '.gitignore': '/node_modules\n# .env\n', LICENSE: 'mine' }
  const printed = await writeProject(t, { new: { ...own, '.git': {} } })
  for (const [name, text] of Object.entries(own)) t.equal(read(name), text)
  t.notOk(readdirSync('new').includes('.dockerignore'), 'another Dockerfile may need what it excludes')
  t.match(
    printed,
    /\nLeft out:\n {2}Dockerfile, \.dockerignore: Dockerfile exists\n {2}\.gitignore: \.gitignore exists; add to it: dist\/ \.env\n {2}README\.md: README\.md exists\n\n/,
  )
  await t.rejects(run(['pets.json', 'new']), {
    message: /^init: nothing is written, since new\/pets\.json, new\/package\.json, /,
  })
})

t.test('parts without effect are left out: a workflow below a repository, an image in a workspace', async (t) => {
  const directory = t.testdir({ '.git': '', service: {}, 'pnpm-workspace.yaml': '' })
  const own = join(directory, 'service')
  const { files, reasons } = leaveOut([], own, join(directory, 'pnpm-workspace.yaml'))
  t.same([...files], ['Dockerfile', '.dockerignore', '.github/workflows/ci.yaml'])
  t.same(reasons, [
    `Dockerfile, .dockerignore: the lock file is in ${directory}, the root of the workspace`,
    `.github/workflows/ci.yaml: GitHub reads the workflows of ${directory}, the root of the repository`,
  ])
  t.same(leaveOut([], directory, join(directory, 'pnpm-workspace.yaml')).reasons, [], 'the root has both')
  t.same(leaveOut(['docker', 'workflow'], own, undefined).reasons, [], 'what is not wanted needs no reason')
})
