import { growth } from './growth/growth.ts'
import { type Installation, installServers, removeDatabases } from './implementations.ts'
import type { Run } from './published.ts'
import { detailsOf } from './report.ts'
import { type Results, type Row, rowsOf } from './results.ts'
import { isOnPage, measureRound, type Options, type Round, servers } from './shapes.ts'
import { QuietSlices } from './steal.ts'

type Group = {
  /** The numbers of operations of its documents. */
  documents: number[]
  isOnPage: (row: Row) => boolean
  measure: (installation: Installation, options: Options, round: Round) => Promise<void>
}

/** All groups of servers, in the order of the page. */
const groups: Record<string, Group> = {
  ...Object.fromEntries(
    Object.entries(servers).map(([name, ofGroup]) => [
      name,
      {
        documents: ofGroup.flatMap(({ served }) => (typeof served === 'number' ? [served] : [])),
        isOnPage: isOnPage(ofGroup),
        async measure(installation, options, round) {
          for (const each of ofGroup) await measureRound(each, installation, options, round)
        },
      } satisfies Group,
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(growth).map(([name, series]) => [
      name,
      {
        documents: series.flatMap(({ documents = [] }) => documents),
        isOnPage: () => true,
        async measure(installation, options, round) {
          for (const each of series) await each.measure(installation, options, round)
        },
      } satisfies Group,
    ]),
  ),
}
export const groupNames = Object.keys(groups)

/** The groups that are measured with one version of Node: the others would fill the page and say the same. */
export const ofOneNode = ['peers', ...Object.keys(growth)]

/** Measures all rounds of a group, and returns what the page shows. Prints the rest. */
export async function measureGroup(
  name: string,
  installation: Installation,
  options: Omit<Options, 'slices'>,
  rounds: number,
): Promise<Omit<Run, 'conditions'>> {
  const { documents, isOnPage, measure } = groups[name] as Group
  const { version } = installation
  const slices = new QuietSlices()
  const results: Results = new Map()
  await installServers(installation, documents)
  try {
    for (let round = 1; round <= rounds; round++) {
      console.error(`Node ${version}, ${name}, round ${round} of ${rounds}`)
      await measure(installation, { ...options, slices }, { round, results })
    }
  } finally {
    await removeDatabases(installation)
  }
  const rows = rowsOf(results)
  console.log(`\n### Node ${version}: ${name}\n\n${detailsOf(rows)}`)
  return { version, slices: slices.counts, rows: rows.filter(isOnPage) }
}
