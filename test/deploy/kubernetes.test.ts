import { readFileSync } from 'node:fs'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { assertKnownVariables, numberOf, version } from './documented-configuration.ts'

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
  NetworkPolicy: {
    podSelector: { matchLabels: Labels }
    ingress: { ports: { port: string }[]; from?: object[] }[]
  }
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
  t.match(value('STORE_URL'), { valueFrom: { secretKeyRef: {} } }, 'its password is in a Secret')
  t.equal(value('MANAGEMENT_HOST')?.value, '0.0.0.0', 'the kubelet can reach the probes')
  const [tokens] = container.volumeMounts
  t.ok(value('TOKENS_FILE')?.value?.startsWith(`${tokens?.mountPath}/`))
  t.match(tokens, { readOnly: true, subPath: undefined }, 'a new Secret is seen')
  t.same(
    container.volumeMounts.map(({ name }) => name),
    pod.volumes.map(({ name }) => name),
  )
})

t.test('a rollout loses no request', async (t) => {
  t.ok(Deployment.replicas >= 2)
  t.same(Deployment.strategy, { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } })
  t.ok(PodDisruptionBudget.maxUnavailable < Deployment.replicas)
  t.ok(pod.terminationGracePeriodSeconds * 1_000 > numberOf('DRAIN_DEADLINE'), 'it may finish what it took')
  const { startupProbe, livenessProbe, readinessProbe } = container
  for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) t.equal(httpGet.port, 'management')
  t.equal(livenessProbe.httpGet.path, '/livez', 'a store that is away restarts nobody')
  t.equal(readinessProbe.httpGet.path, '/readyz')
  const noticed = readinessProbe.periodSeconds * (readinessProbe.failureThreshold ?? 3) * 1_000
  t.ok(noticed <= numberOf('DRAIN_TIME'), 'a draining instance is seen before it closes')
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
    'the management port is no part of it',
  )
  const open = NetworkPolicy.ingress.filter(({ from }) => from === undefined).flatMap(({ ports }) => ports)
  t.same(open, [{ port: 'http' }], 'not everybody reads the metrics')
})
