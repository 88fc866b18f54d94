import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import { runScenarios, type Scenario, scenarioList } from 'fastify-contract-test-support/scenario-runner'
import { writePackages } from '../../scripts/build/packages.ts'
import { commandLine } from '../../scripts/system/command-line.ts'
import { provideImage } from './base-image.ts'
import { type Checked, checkContainer } from './container-checks.ts'
import { type Engine, findEngine, runCommand } from './engine.ts'

type Options = { 'build-options': string }

/** A document whose operation requires a token. */
const documentText = `openapi: 3.1.0
info: { title: Container Pets, version: 1.0.0 }
security: [{ token: [] }]
paths:
  /pets/{id}:
    get:
      operationId: getPet
      parameters: [{ name: id, in: path, required: true, schema: { type: integer }, example: 7 }]
      responses:
        '200': { description: A pet., content: { application/json: { schema: { type: object }, example: { name: Tom } } } }
components: { securitySchemes: { token: { type: http, scheme: bearer } } }
`

const scenarios: Record<string, Scenario<Options>> = {
  npm: { title: 'the Dockerfile of a project of init, by npm', run: projectOf('npm') },
  pnpm: { title: 'the Dockerfile of a project of init, by pnpm', run: projectOf('pnpm') },
  store: { title: 'the Dockerfile of this repository', run: storeImage },
}
const { options, words } = commandLine(
  `.ci/nightly containers [NAME...] [--build-options TEXT]

Builds images by Docker or Podman, and runs them: a request with a token, the health check, the user, what the image
must not have, SIGTERM. Where no registry of images is reached, it makes the base image from packages of Debian and npm,
which needs mmdebstrap and root. Exits with 1 when a figure is out of bounds, else with 2 without an engine.

--build-options TEXT  options for each build, with spaces between them, such as --volume for the settings of npm

${scenarioList(scenarios)}
`,
  { 'build-options': '' },
  Object.keys(scenarios),
)
await runScenarios(scenarios, words, options)

type Run = Scenario<Options>['run']

/** Returns the run of a scenario that builds and checks a project of `init`. */
function projectOf(manager: 'npm' | 'pnpm'): Run {
  return async function run(report, { directory, ...options }) {
    const project = join(directory, 'pets')
    await writeProject(manager, directory, project)
    const absent = ['typescript', 'fastify-contract-cli', '.env', 'test', 'vendor']
    const request = { path: '/pets/7', request: {}, absent }
    await buildAndCheck(report, options, join(directory, 'base'), { ...request, image: `pets-${manager}` }, project)
  }
}

/** Writes and installs a project, which has the packages of this repository in vendor/. */
async function writeProject(manager: 'npm' | 'pnpm', directory: string, project: string): Promise<void> {
  await writePackages(directory)
  writeFileSync(join(directory, 'openapi.yaml'), documentText)
  const dependencies = { 'fastify-contract-cli': 'file:commands.tgz', ...(manager === 'pnpm' && { pnpm: '12' }) }
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ private: true, dependencies }))
  // init then writes a project for pnpm.
  if (manager === 'pnpm') writeFileSync(join(directory, 'pnpm-lock.yaml'), '')
  const [name = ''] = (await runCommand(['npm', 'pack', '--silent', './fastify-contract-cli'], directory)).split('\n')
  renameSync(join(directory, name), join(directory, 'commands.tgz'))
  await runCommand(['npm', 'install', '--no-audit', '--no-fund'], directory)
  await runCommand(['npx', '--no-install', 'fastify-contract', 'init', 'openapi.yaml', 'pets'], directory)
  await runCommand(['npx', '--no-install', manager, 'install'], project)
  writeFileSync(join(project, '.env'), 'PORT=1\n')
}

async function storeImage(report: Report, { directory, ...options }: Options & { directory: string }): Promise<void> {
  const body = JSON.stringify({ id: 1, name: 'Monstera deliciosa' })
  const headers = { 'content-type': 'application/json' }
  const request = { path: '/plants', request: { method: 'POST', headers, body }, absent: ['node_modules', 'src'] }
  await buildAndCheck(report, options, join(directory, 'base'), { ...request, image: 'plant-store-try' }, '.')
}

/** Builds the image of a directory from its Dockerfile as it is, and checks it. */
async function buildAndCheck(
  report: Report,
  { 'build-options': more }: Options,
  baseDirectory: string,
  checked: Omit<Checked, 'base'>,
  context: string,
): Promise<void> {
  const engine: Engine | undefined = await findEngine()
  if (engine === undefined) return report.notRun('Docker or Podman')
  const [, base = ''] = /^FROM (\S+)/m.exec(readFileSync(join(context, 'Dockerfile'), 'utf8')) ?? []
  const started = provideImage(engine, base, baseDirectory).then(() => engine.run(['run', '--rm', base, 'node', '-v']))
  const problem = await started.then(
    () => undefined,
    ({ message }: Error) => message,
  )
  if (problem !== undefined) return report.notRun(`${base}, running in ${engine.name}: ${problem}`)
  const begin = performance.now()
  const format = engine.name === 'podman' ? ['--format=docker', '--network=host'] : []
  const given = more.split(' ').filter(Boolean)
  await engine.run(['build', ...format, ...given, '--tag', checked.image, '.'], context)
  report.figure('seconds of the build', Math.round((performance.now() - begin) / 1000))
  await checkContainer(report, engine, { ...checked, base })
}
