import { assertWorks, type Implementation, type Installation, start } from '../implementations.ts'
import { closedLoop, sendRequests } from '../load.ts'
import { templates } from '../requests.ts'
import { addSlice } from '../results.ts'
import { chosenOf, countIds, loadOf, measureLoad, type Options, type Round } from '../shapes.ts'
import { rowNamed, type Series } from './series.ts'

const counts = [1, 10, 100, 1_000]

/** Documents with more and more operations, each with schemas of its own. The load takes turns among them. */
export const operations: Series = {
  one: 'operation',
  counts,
  documents: counts,
  rowOf: rowNamed('operation'),
  async measure(installation, options, round) {
    for (const count of counts)
      for (const implementation of chosenOf(['fastify', 'service'], options))
        await measureCount(implementation, count, installation, options, round)
  },
}

async function measureCount(
  implementation: Implementation,
  count: number,
  installation: Installation,
  options: Options,
  { round, results }: Round,
): Promise<void> {
  const server = await start(implementation, count, installation)
  const add = { row: operations.rowOf(count), round, implementation }
  const load = (connections: number) => loadOf(server, count, templates.operation, connections)
  try {
    await assertWorks(server, count)
    countIds(server, load(1), await sendRequests(load(1), { seconds: 60, count: Math.max(count, 1_000) }))
    addSlice(results, add, { result: { memory: server.memory() }, isQuiet: true })
    countIds(server, load(64), await sendRequests(load(64), { seconds: 2 }))
    const slice = await options.slices.measure(() =>
      measureLoad(server, load(64), add.row, (next) => closedLoop(next, options.seconds)),
    )
    addSlice(results, add, { ...slice, result: { cpu: slice.result.cpu } })
  } finally {
    await server.stop()
  }
}
