import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { assertKnownVariables, configuration, numberOf, version } from './documented-configuration.ts'

type Volume = string | { source: string; target: string; read_only: boolean }
type Service = {
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
  services: { service: Service; database: Service; prometheus: Service }
  networks: Record<string, { internal?: boolean } | null>
  secrets: Record<string, { file: string }>
}

const { services, networks, secrets }: Compose = parse(readFileSync('compose.yaml', 'utf8'), { merge: true })
const { service, database, prometheus } = services

t.test('every container has only the privileges it needs', async (t) => {
  for (const [name, one] of Object.entries(services)) {
    t.equal(one.read_only, true, `${name} writes to its volumes alone`)
    t.same(one.cap_drop, ['ALL'])
    t.same(one.security_opt, ['no-new-privileges:true'])
    t.ok(one.user === undefined ? one.build : /^[1-9]\d*:[1-9]\d*$/.test(one.user), `${name} is not root`)
    t.match(one.image, /^([a-z]+\/)?[a-z-]+:v?\d+\.\d+/, `${name} has a version`)
    for (const published of one.ports ?? []) t.match(published, /^127\.0\.0\.1:/, 'this machine alone reaches it')
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
    'it may finish what it took',
  )
  t.ok((service.ulimits?.nofile ?? 0) > numberOf('CONNECTIONS_LIMIT'), 'connections are refused, not file descriptors')
  t.same(service.depends_on, { database: { condition: 'service_healthy' } })
  t.match(database.healthcheck?.test, ['CMD', 'pg_isready', '--host=127.0.0.1'])
})

t.test('the environment holds no secret', async (t) => {
  for (const [name, value] of Object.entries({ ...service.environment, ...database.environment })) {
    t.notMatch(value, /:\/\/[^/@]*:[^/@]*@/, `${name} has no password`)
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
