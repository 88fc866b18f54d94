import { setTimeout as sleep } from 'node:timers/promises'
import { assertWorks, type Implementation, type Installation, type Server, start } from '../implementations.ts'
import { type Connection, openConnections, sendRequests } from '../load.ts'
import { templates } from '../requests.ts'
import { addSlice } from '../results.ts'
import { chosenOf, countIds, loadOf, measureLoad, type Options, type Round } from '../shapes.ts'
import { rowNamed, type Series } from './series.ts'

/** Requests a second, which take turns among all connections, so that all of them are in use. */
const rate = 2_000

/** Open connections, each of which has had a request: what they cost while idle, and at a constant rate. */
export const connections: Series = {
  one: 'connection',
  counts: [1, 100, 10_000],
  rowOf: rowNamed('connection'),
  async measure(installation, options, round) {
    for (const implementation of chosenOf(['fastify', 'service'], options))
      await measureCounts(implementation, installation, options, round)
  },
}

async function measureCounts(
  implementation: Implementation,
  installation: Installation,
  options: Options,
  round: Round,
): Promise<void> {
  const server = await start(implementation, 'plants', installation)
  const opened: Connection[] = []
  try {
    await assertWorks(server, 'plants')
    const warm = loadOf(server, 'plants', templates.plant, 64)
    countIds(server, warm, await sendRequests(warm, { seconds: 2 }))
    for (const count of connections.counts) {
      opened.push(...(await openConnections(server.port, count - opened.length)))
      await measureCount(server, opened, options, round)
    }
  } finally {
    for (const { close } of opened) close()
    await server.stop()
  }
}

async function measureCount(
  server: Server,
  opened: Connection[],
  { seconds, slices }: Options,
  { round, results }: Round,
): Promise<void> {
  const add = { row: connections.rowOf(opened.length), round, implementation: server.implementation }
  const load = () => loadOf(server, 'plants', templates.plant, opened.length)
  countIds(server, load(), await sendRequests(load(), { seconds: 60, rate, count: opened.length }, opened))
  await sleep(1_000)
  const idle = await slices.measure(async function measureIdle() {
    const before = server.cpu()
    await sleep(2_000)
    return { share: (100 * (server.cpu() - before)) / 2, memory: server.memory() }
  })
  addSlice(results, add, idle)
  const slice = await slices.measure(() =>
    measureLoad(server, load(), add.row, (next) => sendRequests(next, { seconds: 2 * seconds, rate }, opened)),
  )
  addSlice(results, add, { ...slice, result: { cpu: slice.result.cpu } })
}
