import { channel } from 'node:diagnostics_channel'
import { rmSync } from 'node:fs'
import { METHODS } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Registry } from 'prom-client'
import t, { type Test } from 'tap'
import { errorNumbers } from '../../generated/error-numbers.ts'
import type { ErrorName } from '../../packages/fastify-contract/src/contract/errors.ts'
import type { RequestContext } from '../../packages/fastify-contract/src/http/request-context.ts'
import { createMetrics, measureProcess } from '../../packages/fastify-contract/src/service/metrics.ts'
import { groupCommit } from '../../src/store/group-commit.ts'
import { measureStore } from '../../src/store/store-metrics.ts'

function measure(t: Test) {
  const metrics = createMetrics({ '': '1.2.3' }, 'plant_store')
  measureStore(metrics.registry)
  t.teardown(metrics.close)
  const handle = (context: Partial<RequestContext>) => {
    metrics.begin()
    metrics.end({ ...created, ...context })
  }
  return { ...metrics, handle, values: async () => values(await metrics.text()) }
}

/** Returns the values in a text of metrics, by series. */
const values = (text: string): Record<string, number> =>
  Object.fromEntries(Array.from(text.matchAll(/^([^#\s]\S*) (\S+)$/gm), ([, series, value]) => [series, Number(value)]))

const created: RequestContext = {
  id: 'a',
  trace: undefined,
  method: 'POST',
  operation: 'createPlant',
  client: { name: 'someone', scopes: [] },
  address: undefined,
  status: 200,
  error: undefined,
  rejection: undefined,
  started: 0,
  duration: 6,
}

const series = (name: string, labels: Record<string, string | number>) =>
  `${name}{${Object.entries(labels).map(([label, value]) => `${label}="${value}"`)}}`
const of = (part: string, labels: Record<string, string | number>) =>
  series(`http_server_request_duration_seconds_${part}`, labels)

t.test('a request is counted by operation, method and status, with its duration in seconds', async (t) => {
  const { handle, values } = measure(t)
  handle({})
  handle({ duration: 90 })
  handle({ status: 409, error: 40900 })
  handle({ status: 0 })
  const labels = { operation: 'createPlant', method: 'POST', status: 200 }
  t.match(await values(), {
    [of('bucket', { le: 0.005, ...labels })]: 0,
    [of('bucket', { le: 0.01, ...labels })]: 1,
    [of('bucket', { le: 0.075, ...labels })]: 1,
    [of('bucket', { le: 0.1, ...labels })]: 2,
    [of('bucket', { le: '+Inf', ...labels })]: 2,
    [of('sum', labels)]: 0.096,
    [of('count', labels)]: 2,
    [of('count', { ...labels, status: 409 })]: 1,
    [of('count', { ...labels, status: 'none' })]: 1,
  })
})

t.test('a request without an operation is counted without path and method', async (t) => {
  const { handle, values } = measure(t)
  handle({
    operation: undefined,
    method: 'PROPFIND',
    status: 404,
    error: errorNumbers.noSuchPath,
    rejection: 'noSuchPath',
  })
  const found = await values()
  t.equal(found[of('count', { operation: 'none', method: '_OTHER', status: 404 })], 1)
  t.notOk(Object.keys(found).some((series) => series.includes('PROPFIND')))
})

t.test('requests are active until their end', async (t) => {
  const { begin, end, values } = measure(t)
  begin()
  begin()
  end(created)
  t.equal((await values()).http_server_active_requests, 1)
})

t.test('rejections are counted by their kind', async (t) => {
  const { handle, refused, shed, values } = measure(t)
  const kinds = Object.keys(errorNumbers) as ErrorName[]
  const counted = (reason: string) => series('plant_store_requests_refused_total', { reason })
  for (const rejection of kinds) handle({ status: 400, rejection })
  handle({ status: 409, error: 40900 })
  refused('connections')
  refused('malformedRequest')
  shed('in_flight')
  const found = await values()
  const names = [...kinds, 'connections']
  t.same(
    Object.keys(found).filter((name) => name.startsWith('plant_store_requests_refused')),
    names.map(counted),
    'a 409 that the operation returns is not a rejection',
  )
  for (const name of names) t.equal(found[counted(name)], name === 'malformedRequest' ? 2 : 1, name)
  t.match(found, {
    [series('plant_store_requests_shed_total', { reason: 'in_flight' })]: 1,
    [series('plant_store_requests_shed_total', { reason: 'event_loop_delay' })]: 0,
  })
})

t.test('batches of the store are counted', async (t) => {
  const { values } = measure(t)
  const { submit } = groupCommit<number, string>(async (batch) => batch.map(String), {
    sizeOf: () => 1,
    maxInFlight: 1,
  })
  await Promise.all([1, 2, 3].map(submit))
  t.match(await values(), {
    [series('plant_store_batch_plants_bucket', { le: 1 })]: 0,
    [series('plant_store_batch_plants_bucket', { le: 4 })]: 1,
    plant_store_batch_plants_sum: 3,
    plant_store_batch_plants_count: 1,
    plant_store_batch_duration_seconds_count: 1,
    plant_store_queue_plants: 0,
  })
  channel('plant-store:batch').publish({ size: 1, duration: 2_000, queued: 7 })
  t.match(await values(), {
    [series('plant_store_batch_duration_seconds_bucket', { le: 1.024 })]: 1,
    [series('plant_store_batch_duration_seconds_bucket', { le: '+Inf' })]: 2,
    plant_store_queue_plants: 7,
  })
})

t.test("the size of SQLite's write-ahead log is exported once it is known", async (t) => {
  const { values } = measure(t)
  t.match(await values(), { plant_store_sqlite_wal_bytes: undefined })
  channel('plant-store:sqlite-journal').publish({ bytes: 4_152 })
  t.match(await values(), { plant_store_sqlite_wal_bytes: 4_152 })
})

t.test('a gauge without a value is absent', async (t) => {
  const { tokens, ready, values } = measure(t)
  t.match(await values(), { plant_store_tokens_file_good: undefined, plant_store_ready: undefined })
  tokens(false)
  ready(true)
  t.match(await values(), { plant_store_tokens_file_good: 0, plant_store_ready: 1 })
  tokens(true)
  ready(false)
  t.match(await values(), { plant_store_tokens_file_good: 1, plant_store_ready: 0 })
})

t.test('process metrics are exported', async (t) => {
  const { begin, end, values } = measure(t)
  await values()
  begin()
  const blocked = performance.now() + 100
  while (performance.now() < blocked);
  // The event loop must be idle in most turns, so that the median stays low.
  await sleep(200)
  const found = await values()
  const before = found.process_cpu_seconds_total as number
  t.ok(before >= 0.1 && before < 60)
  t.ok((found.nodejs_eventloop_delay_max_seconds as number) > 0.05, 'the event loop was blocked once')
  t.ok((found.nodejs_eventloop_delay_p99_seconds as number) > 0.05)
  t.ok((found.nodejs_eventloop_delay_p50_seconds as number) < 0.05, 'most of the time it was not blocked')
  t.ok(Math.abs((found.process_start_time_seconds as number) - (Date.now() / 1_000 - process.uptime())) < 5)
  t.ok((found.process_resident_memory_bytes as number) > (found.nodejs_heap_size_total_bytes as number))
  t.ok((found.nodejs_heap_size_total_bytes as number) > (found.nodejs_heap_size_used_bytes as number))
  t.equal(found[series('plant_store_build_info', { version: '1.2.3', node_version: process.versions.node })], 1)
  end(created)
  const again = await values()
  t.ok((again.process_cpu_seconds_total as number) >= before)
  t.ok((again.nodejs_eventloop_delay_max_seconds as number) < 0.05, 'the delay is measured since the last reading')
})

t.test('a delay of the event loop that begins before a request is measured when the request arrives', async (t) => {
  const { begin, values } = measure(t)
  // Longer than the interval of the measurements without requests, so that one is late.
  const blocked = performance.now() + 1_200
  while (performance.now() < blocked);
  begin()
  const found = await values()
  t.ok((found.nodejs_eventloop_delay_max_seconds as number) > 0.1)
})

t.test('file descriptor counts are exported where the system has them', async (t) => {
  const proc = t.testdir({
    limits: 'Limit  Soft Limit\nMax open files            64     128   files\n',
    fd: { 0: '', 1: '', 2: '' },
  })
  const registry = new Registry()
  const { close } = measureProcess(registry, () => false, proc)
  t.match(values(await registry.metrics()), { process_open_fds: 2, process_max_fds: 64 })
  rmSync(join(proc, 'fd'), { recursive: true })
  t.match(values(await registry.metrics()), { process_open_fds: 64 }, 'no descriptor is free to read the directory')
  close()

  const elsewhere = new Registry()
  measureProcess(elsewhere, () => false, join(proc, 'nowhere')).close()
  t.match(values(await elsewhere.metrics()), { process_open_fds: undefined, process_max_fds: undefined })
})

t.test('clients cannot cause more than 200 lines of metrics', async (t) => {
  const { handle, tokens, ready, values } = measure(t)
  const kinds = ['noSuchPath', 'noSuchMethod', 'undecodableTarget', 'malformedRequest'] as const
  for (let count = 0; count < 10_000; count++) {
    const rejection = kinds[count % kinds.length] as (typeof kinds)[number]
    const error = errorNumbers[rejection]
    const method = METHODS[count % METHODS.length] as string
    handle({
      operation: undefined,
      method,
      status: Math.trunc(error / 100),
      error,
      rejection,
      duration: count,
      client: { name: `${count}`, scopes: [] },
    })
  }
  const usual = ['notJson', 'invalid', 'missingToken', 'invalidToken', 'unsupportedMediaType', 'unavailable'] as const
  for (const kind of usual) handle({ status: Math.trunc(errorNumbers[kind] / 100), rejection: kind })
  handle({})
  handle({ status: 409, error: 40900 })
  tokens(true)
  ready(true)
  const count = Object.keys(await values()).length
  t.comment(`${count} lines`)
  t.ok(count <= 200, `${count} lines`)
})
