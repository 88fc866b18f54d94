import { readFileSync } from 'node:fs'
import t from 'tap'
import { readConfig } from '../../src/config/read-config.ts'
import type { MetricValues } from '../../src/observability/metrics.ts'
import { aggregateMetrics } from '../../src/process/aggregated-metrics.ts'
import { forkWorker, type WorkerProcess } from '../../src/process/worker-process.ts'

const document = JSON.parse(readFileSync('generated/openapi.json', 'utf8'))

t.test('a worker that cannot start counts as exited', async (t) => {
  const { execPath } = process
  process.execPath = '/nowhere'
  t.teardown(() => {
    process.execPath = execPath
  })
  const worker = forkWorker(readConfig({}), document)
  const { isClean, reason } = await worker.ended
  t.notOk(isClean)
  t.match(reason.message, /^cannot start a worker: [^\n]*ENOENT[^\n]*$/)
  await t.rejects(worker.serving, reason)
  await t.rejects(worker.ask('ready'), reason)
})

t.test('metrics of processes are aggregated, and those of an exited one stay counted', async (t) => {
  const metric = (name: string, type: string, value: number, aggregator = 'sum') => ({
    ...{ name, type, aggregator, help: name },
    values: [{ value, labels: {} }],
  })
  const figuresOf = (count: number, delay: number) =>
    [
      metric('requests', 'counter', count),
      metric('memory', 'gauge', 1),
      metric('delay', 'gauge', delay, 'max'),
    ] as unknown as MetricValues
  const worker = (ask: () => Promise<MetricValues>) => ({ ask }) as unknown as WorkerProcess
  let gone = false
  const first = worker(async () => {
    if (gone) throw new Error('gone')
    return figuresOf(5, 3)
  })
  const second = worker(async () => figuresOf(7, 2))
  const silent = worker(async () => figuresOf(100, 100))
  const { text, keep } = aggregateMetrics(async () => figuresOf(0, 1))
  t.match(await text([first, second]), /^requests 12$.*^memory 3$.*^delay 3$/ms)
  gone = true
  t.match(await text([first, second]), /^requests 12$.*^memory 3$/ms, 'the last figures of a worker that is gone')
  keep(first)
  keep(silent)
  t.match(await text([second]), /^requests 12$.*^memory 2$.*^delay 2$/ms)
  keep(second)
  t.match(await text([]), /^requests 12$.*^memory 1$.*^delay 1$/ms)
})
