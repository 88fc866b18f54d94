import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { startPostgres } from '../../scripts/postgres/temporary-postgres.ts'
import type { Instance } from '../edge/instance-pair.ts'
import { proxies } from '../edge/proxies/proxies.ts'
import { recommended, withPorts } from '../edge/proxies/proxy-page.ts'
import { startService } from '../support/service-process.ts'
import { assertKnownVariables, configuration, numberOf, version } from './documented-configuration.ts'
import { runTool } from './run-tool.ts'

type Volume = string | { source: string; target: string; read_only: boolean }
type ComposeService = {
  image: string
  user?: string
  build?: string
  read_only: boolean
  cap_drop: string[]
  security_opt: string[]
  environment: Record<string, string>
  volumes: Volume[]
  networks: string[]
  ports?: string[]
  secrets?: string[]
  depends_on?: Record<string, { condition: string }>
  healthcheck?: { test: string[] }
  stop_grace_period: string
  ulimits?: { nofile: number }
}
type Compose = {
  services: { service: ComposeService; database: ComposeService; prometheus: ComposeService }
  networks: Record<string, { internal?: boolean } | null>
  secrets: Record<string, { file: string }>
}

const { services, networks, secrets }: Compose = parse(readFileSync('compose.yaml', 'utf8'), { merge: true })
const { service, database, prometheus } = services

t.test('every container has only the privileges it needs', async (t) => {
  for (const [name, one] of Object.entries(services)) {
    t.equal(one.read_only, true, `${name} has a read-only root`)
    t.same(one.cap_drop, ['ALL'])
    t.same(one.security_opt, ['no-new-privileges:true'])
    t.ok(one.user === undefined ? one.build : /^[1-9]\d*:[1-9]\d*$/.test(one.user), `${name} does not run as root`)
    t.match(one.image, /^([a-z]+\/)?[a-z-]+:v?\d+\.\d+/, `${name} pins a version`)
    for (const published of one.ports ?? []) t.match(published, /^127\.0\.0\.1:/, 'only this machine can connect')
  }
  t.same(database.networks, ['back'])
  t.notOk(prometheus.networks.includes('back'))
  t.equal(networks.back?.internal, true)
  t.equal(database.ports, undefined)
})

t.test('the service is configured as documented', async (t) => {
  assertKnownVariables(t, Object.keys(service.environment))
  t.equal(service.image, `plant-store:${version}`)
  t.ok(service.ports?.every((published) => published.endsWith(`:${configuration.get('PORT')}`)))
  t.ok(
    Number.parseInt(service.stop_grace_period, 10) * 1_000 > numberOf('DRAIN_DEADLINE'),
    'the grace period exceeds the drain deadline',
  )
  t.ok((service.ulimits?.nofile ?? 0) > numberOf('CONNECTIONS_LIMIT'), 'file descriptors suffice for all connections')
  t.same(service.depends_on, { database: { condition: 'service_healthy' } })
  t.match(database.healthcheck?.test, ['CMD', 'pg_isready', '--host=127.0.0.1'])
})

t.test('the environment holds no secret', async (t) => {
  for (const [name, value] of Object.entries({ ...service.environment, ...database.environment })) {
    t.notMatch(value, /:\/\/[^/@]*:[^/@]*@/, `${name} contains no password`)
    if (/password|token|pass/i.test(name)) t.match(value, /^\/run\//, `${name} is a path`)
  }
  t.same(Object.keys(secrets), database.secrets)
  const { PGPASSFILE = '', TOKENS_FILE = '' } = service.environment
  const mounted = service.volumes.find((volume) => typeof volume !== 'string')
  t.match(mounted, { read_only: true })
  const directory = typeof mounted === 'object' ? mounted.target : ''
  for (const path of [PGPASSFILE, TOKENS_FILE]) t.ok(path.startsWith(`${directory}/`), `${path} is mounted`)
})

t.test('referenced files exist, and no secret is committed', async (t) => {
  const mounted = [...service.volumes, ...database.volumes, ...prometheus.volumes].map((volume) =>
    typeof volume === 'string' ? (volume.split(':')[0] as string) : volume.source,
  )
  const own = mounted.filter((path) => path.startsWith('./'))
  t.ok(own.length > 0)
  for (const path of own) if (!path.startsWith('./secrets/')) t.ok(existsSync(path), `${path} exists`)
  t.match(readFileSync('.gitignore', 'utf8'), /^secrets\/$/m)
})

const noDatabase = (await runTool('psql', '--version'))?.code === 0 ? false : 'NOT RUN: psql is not installed'

t.test('the database of compose.yaml reads its password from a file', { skip: noDatabase }, async (t) => {
  const password = 'of-the-tests'
  const server = await startPostgres({ password })
  t.teardown(() => server.close())
  const directory = t.testdir({ password: `${password}\n` })
  const script = join(directory, 'postgres.sql')
  const text = readFileSync('deploy/postgres.sql', 'utf8')
  writeFileSync(script, text.replace('/run/secrets/password', join(directory, 'password')))
  const psql = (...args: string[]) => runTool('psql', '--no-psqlrc', '--set=ON_ERROR_STOP=1', ...args, server.url())
  t.match(await psql(`--file=${script}`), { code: 0 })
  t.match(
    await psql('--command=SELECT'),
    { code: 2, output: /password authentication failed/ },
    'the superuser can no longer log in',
  )

  const PGPASSFILE = join(directory, 'pgpass')
  writeFileSync(PGPASSFILE, `127.0.0.1:${server.port}:plants:plants:${password}\n`, { mode: 0o600 })
  const STORE_URL = `postgres://plants@127.0.0.1:${server.port}/plants`
  const service = await startService(t, { STORE_URL, PGPASSFILE })
  t.equal((await service.create('{"id":1,"name":"a"}')).status, 200, 'the service may create its table and a plant')
  t.match(await service.stop(), { code: 0 })
})

type Probe = { httpGet: { path: string; port: string }; periodSeconds: number; failureThreshold?: number }
type Labels = Record<string, string>
type Container = {
  image: string
  ports: { name: string; containerPort: number }[]
  env: { name: string; value?: string; valueFrom?: object }[]
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean; subPath?: string }[]
  startupProbe: Probe
  livenessProbe: Probe
  readinessProbe: Probe
  resources: { requests: object; limits: object }
  securityContext: object
}
type Pod = {
  automountServiceAccountToken: boolean
  enableServiceLinks: boolean
  terminationGracePeriodSeconds: number
  securityContext: object
  containers: [Container]
  volumes: { name: string }[]
}
type Specs = {
  Deployment: { replicas: number; strategy: object; template: { metadata: { labels: Labels }; spec: Pod } }
  Service: { selector: Labels; ports: { targetPort: string }[] }
  PodDisruptionBudget: { maxUnavailable: number; selector: { matchLabels: Labels } }
  NetworkPolicy: { podSelector: { matchLabels: Labels }; ingress: { ports: { port: string }[]; from?: object[] }[] }
}

const objects = parseAllDocuments(readFileSync('deploy/kubernetes.yaml', 'utf8')).map((document) => document.toJS())
const specs: Specs = Object.fromEntries(objects.map(({ kind, spec }) => [kind, spec]))
const { Deployment, Service, PodDisruptionBudget, NetworkPolicy } = specs
const { metadata, spec: pod } = Deployment.template
const [container] = pod.containers

t.test('the pod meets the restricted Pod Security Standard', async (t) => {
  t.match(pod.securityContext, { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
  t.match(readFileSync('Dockerfile', 'utf8'), `USER ${Object(pod.securityContext).runAsUser}:`)
  t.same(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  t.equal(pod.automountServiceAccountToken, false)
  t.equal(pod.enableServiceLinks, false)
  t.match(container.resources, { requests: { cpu: String, memory: String }, limits: { memory: String } })
})

t.test('the service is configured as documented', async (t) => {
  t.equal(container.image, `plant-store:${version}`)
  assertKnownVariables(
    t,
    container.env.map(({ name }) => name),
  )
  t.same(container.ports, [
    { name: 'http', containerPort: numberOf('PORT') },
    { name: 'management', containerPort: numberOf('MANAGEMENT_PORT') },
  ])
  const value = (wanted: string) => container.env.find(({ name }) => name === wanted)
  t.match(value('STORE_URL'), { valueFrom: { secretKeyRef: {} } }, 'the password is in a Secret')
  t.equal(value('MANAGEMENT_HOST')?.value, '0.0.0.0', 'the kubelet can reach the probes')
  const [tokens] = container.volumeMounts
  t.ok(value('TOKENS_FILE')?.value?.startsWith(`${tokens?.mountPath}/`))
  t.match(tokens, { readOnly: true, subPath: undefined }, 'updates of the Secret reach the container')
  t.same(
    container.volumeMounts.map(({ name }) => name),
    pod.volumes.map(({ name }) => name),
  )
})

t.test('a rollout loses no request', async (t) => {
  t.ok(Deployment.replicas >= 2)
  t.same(Deployment.strategy, { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } })
  t.ok(PodDisruptionBudget.maxUnavailable < Deployment.replicas)
  t.ok(pod.terminationGracePeriodSeconds * 1_000 > numberOf('DRAIN_DEADLINE'), 'the grace period covers the drain')
  const { startupProbe, livenessProbe, readinessProbe } = container
  for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) t.equal(httpGet.port, 'management')
  t.equal(livenessProbe.httpGet.path, '/livez', 'a store outage restarts no pod')
  t.equal(readinessProbe.httpGet.path, '/readyz')
  const noticed = readinessProbe.periodSeconds * (readinessProbe.failureThreshold ?? 3) * 1_000
  t.ok(noticed <= numberOf('DRAIN_TIME'), 'readiness probes notice a drain before the listener closes')
})

t.test('all manifests belong to one service', async (t) => {
  for (const labels of [
    Service.selector,
    PodDisruptionBudget.selector.matchLabels,
    NetworkPolicy.podSelector.matchLabels,
  ])
    t.same(labels, metadata.labels)
  t.same(
    Service.ports.map(({ targetPort }) => targetPort),
    ['http'],
    'the management port is not exposed',
  )
  const open = NetworkPolicy.ingress.filter(({ from }) => from === undefined).flatMap(({ ports }) => ports)
  t.same(open, [{ port: 'http' }], 'the metrics are not open to everyone')
})

const folder = join('.github', 'workflows')

/** Tool, arguments of its version command, arguments of the check. The version command shows if the tool is missing. */
const checks: [string, string[], string[]][] = [
  ['hadolint', ['--version'], ['Dockerfile']],
  ['docker', ['compose', 'version'], ['compose', '--file', 'compose.yaml', 'config', '--quiet']],
  ['kubernetes-validate', ['--version'], ['--strict', 'deploy/kubernetes.yaml']],
  ['actionlint', ['-version'], readdirSync(folder).map((name) => join(folder, name))],
]

for (const [tool, version, check] of checks) {
  const there = (await runTool(tool, ...version))?.code === 0
  const skip = there ? false : `NOT RUN: "${[tool, ...version].join(' ')}" fails; install it`
  t.test(`${tool} ${check.join(' ')}`, { skip }, async (t) => {
    t.same(await runTool(tool, ...check).then((run) => run?.code), 0)
  })
}

const foundProxy = (language: string, pattern: RegExp) => Number(pattern.exec(recommended(language))?.[1])

t.test('proxy timeouts exceed HANDLER_TIMEOUT, and health checks notice a drain in time', async (t) => {
  for (const [language, pattern] of [
    ['nginx', /^ *proxy_read_timeout (\d+)s;$/m],
    ['haproxy', /^ *timeout server (\d+)s$/m],
    ['apache', /^ *BalancerMember .* timeout=(\d+) /m],
    ['caddyfile', /^ *response_header_timeout (\d+)s$/m],
    ['vcl', /^ *\.first_byte_timeout = (\d+)s;$/m],
    ['squid', /^read_timeout (\d+) seconds$/m],
  ] as const)
    t.ok(foundProxy(language, pattern) * 1_000 > numberOf('HANDLER_TIMEOUT'), language)
  const untilSeen = foundProxy('haproxy', / inter (\d+)ms /) * foundProxy('haproxy', / fall (\d+) /)
  t.ok(2 * untilSeen <= numberOf('DRAIN_TIME'))
})

/** The arguments that make a proxy check its configuration, in place of those that make it run. */
const proxyChecks: Record<string, (command: string[]) => string[]> = {
  nginx: (command) => [...command, '-t', '-q'],
  HAProxy: ([program = '', , ...rest]) => [program, '-c', '-q', ...rest],
  Apache: (command) => [...command, '-t'],
  'Caddy 2.6': ([program = '', , ...rest]) => [program, 'validate', ...rest],
  Varnish: (command) => [command[0] as string, '-C', '-f', command[command.indexOf('-f') + 1] as string],
  Squid: (command) => [...command, '-k', 'parse'],
}

for (const [name, checkOf] of Object.entries(proxyChecks)) {
  const proxy = proxies.find((one) => one.name === name) as (typeof proxies)[number]
  const program = await proxy.program('')
  const skip = program === undefined && `NOT RUN: ${proxy.name} is not installed`
  t.test(`${proxy.name} accepts its configuration`, { skip }, async (t) => {
    const [port, ...ports] = [1, 2, 3, 4, 5]
    const [one = 0, two = 0, three = 0, four = 0] = ports
    const instances: [Instance, Instance] = [
      { port: one, managementPort: two },
      { port: three, managementPort: four },
    ]
    const place = { program: program as string, port: port as number, directory: t.testdir({}) }
    const command = proxy.command(withPorts(recommended(proxy.language), place.port, instances), place)
    const run = await runTool(...(checkOf(command) as [string, ...string[]]))
    t.equal(run?.code, 0, String(run?.output))
  })
}

const path = 'deploy/plant-store.service'
const text = readFileSync(path, 'utf8')
const all = (key: string) => Array.from(text.matchAll(RegExp(`^${key}=(.*)$`, 'gm')), ([, value = '']) => value)
const only = (key: string) => Number(all(key)[0])

/** The first version of systemd-analyze that checks a file without a running manager. */
const wanted = 250
const found = Number(/^systemd (\d+)/.exec((await runTool('systemd-analyze', '--version'))?.output ?? '')?.[1] ?? 0)
const skip = found >= wanted ? false : `NOT RUN: systemd-analyze of systemd ${wanted} or newer is not installed`

t.test('the service is configured as documented', async (t) => {
  const variables = all('Environment').flatMap((line) =>
    line.split(' ').map((pair) => pair.split('=') as [string, string]),
  )
  assertKnownVariables(
    t,
    variables.map(([name]) => name),
  )
  for (const name of ['STORE_URL', 'TOKENS_FILE']) {
    const [, value = ''] = variables.find(([given]) => given === name) ?? []
    t.match(value, `%S/${all('StateDirectory')[0]}/`, `${name} is in the writable state directory`)
  }
  t.ok(only('TimeoutStopSec') * 1_000 > numberOf('DRAIN_DEADLINE'), 'the stop timeout exceeds the drain deadline')
  t.ok(only('LimitNOFILE') > numberOf('CONNECTIONS_LIMIT'), 'file descriptors suffice for all connections')
  t.same(all('MemoryDenyWriteExecute'), ['no'], "V8's JIT compiler can work")
})

t.test('systemd-analyze security rates the unit as safe', { skip }, async (t) => {
  const run = await runTool('systemd-analyze', 'security', '--offline=true', '--threshold=20', '--no-pager', path)
  t.equal(run?.code, 0)
  const exposure = Number(/exposure level for plant-store\.service: ([\d.]+)/.exec(run?.output ?? '')?.[1])
  t.comment(`exposure ${exposure}`)
  t.ok(exposure <= 2)
})

t.test('systemd-analyze accepts the unit', { skip }, async (t) => {
  // The program of ExecStart is not installed on this machine.
  const copy = join(t.testdir({}), 'plant-store.service')
  writeFileSync(copy, text.replace(/^ExecStart=.*$/m, `ExecStart=${process.execPath}`))
  t.same(await runTool('systemd-analyze', 'verify', '--man=no', copy), { code: 0, output: '' })
})

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

const texts = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
const workflows = new Map(Array.from(texts, ([name, text]) => [name, parse(text) as Workflow]))
const jobs = [...workflows].flatMap(([file, { jobs }]) =>
  Object.entries(jobs).map(([name, job]) => ({ name: `${file} ${name}`, job })),
)
const steps = jobs.flatMap(({ name, job }) => (job.steps ?? []).map((step) => ({ name, step })))
const manifest = JSON.parse(readFileSync('package.json', 'utf8'))

t.test('third-party actions are pinned by commit, with the version in a comment, the same everywhere', async (t) => {
  const pins = [...texts.values()].flatMap((text) =>
    Array.from(text.matchAll(/uses: (?!\.\/)(.*)$/gm), ([, pin]) => String(pin)),
  )
  t.ok(pins.length > 0)
  for (const pin of pins) t.match(pin, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  t.equal(new Set(pins).size, new Set(pins.map((pin) => pin.split('@')[0])).size)
  for (const { job } of jobs) if (job.uses !== undefined) t.ok(existsSync(job.uses), job.uses)
})

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
    // These commands of npm run no code of a package.
    const others = /\bnpm (view|config|publish --ignore-scripts) /g
    const runsPackages = job.steps?.some(({ run = '' }) => /\bnp[mx] |\.ci\//.test(run.replaceAll(others, ''))) ?? false
    t.notOk(mayWrite && runsPackages, name)
  }
  for (const { name, step } of steps)
    if (step.uses?.startsWith('actions/checkout@')) t.equal(step.with?.['persist-credentials'], false, name)
})

t.test('a release depends on the checks', async (t) => {
  const released = workflows.get('release.yaml')?.jobs ?? {}
  for (const [name, { permissions, needs = [] }] of Object.entries(released))
    if (Object.values(permissions ?? {}).includes('write')) t.ok([needs].flat().includes('checks'), name)
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

t.test('tests run on the oldest supported Node and each later line, the checks on that of .nvmrc', async (t) => {
  const { checks, tests } = workflows.get('ci.yaml')?.jobs ?? {}
  t.equal(`>=${tests?.strategy?.matrix.node?.[0]}`, manifest.engines.node)
  t.ok(checks?.steps?.some((step) => step.with?.['node-version-file'] === '.nvmrc'))
  const versions = [...(tests?.strategy?.matrix.node ?? []), readFileSync('.nvmrc', 'utf8').trim()]
  t.same(versions.map((version) => version.replace(/\..*/, '')).sort(), ['20', '22', '24', '26'])
})

t.test('each part of .ci/nightly runs every night', async (t) => {
  const [, parts = ''] = /^parts=\((.*)\)$/m.exec(readFileSync('.ci/nightly', 'utf8')) ?? []
  t.same(workflows.get('nightly.yaml')?.jobs.parts?.strategy?.matrix.part, parts.split(' '))
})

t.test('the development container has the Node that the image is built with', async (t) => {
  const { image } = JSON.parse(readFileSync('.devcontainer/devcontainer.json', 'utf8'))
  t.match(readFileSync('Dockerfile', 'utf8'), `FROM ${image}-slim AS build\n`)
})

/** Returns the versions of the packages that the package.json of a folder declares. */
function packagesOf(folder: string): Record<string, string> {
  const project = JSON.parse(readFileSync(join('.', folder, 'package.json'), 'utf8'))
  const { dependencies, optionalDependencies, devDependencies } = project
  return { ...dependencies, ...optionalDependencies, ...devDependencies }
}

t.test('folders and packages of the update bot exist', async (t) => {
  type Update = {
    'package-ecosystem': string
    directory?: string
    directories?: string[]
    ignore?: { 'dependency-name': string; versions?: string[] }[]
  }
  const { updates } = parse(readFileSync('.github/dependabot.yml', 'utf8')) as { updates: Update[] }
  for (const { directory = '', directories = [directory], ignore = [], ...update } of updates) {
    for (const folder of directories) t.ok(existsSync(join('.', folder)), folder)
    if (update['package-ecosystem'] !== 'npm') continue
    const installed: Record<string, string> = Object.assign({}, ...directories.map(packagesOf))
    for (const { 'dependency-name': name, versions = [] } of ignore) {
      t.ok(Object.hasOwn(installed, name), name)
      for (const range of versions) {
        const [, least = ''] = /^>=(\d+)$/.exec(range) ?? []
        t.ok(Number.parseInt(String(installed[name]), 10) < Number(least), `${name} is older than ${range}`)
      }
    }
  }
})
