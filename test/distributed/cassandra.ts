import { once } from 'node:events'
import { commandLine } from '../../scripts/system/command-line.ts'
import { migrateStore } from '../../src/store/open.ts'
import { cassandraClasspath, startCassandra } from './cassandra-cluster.ts'

const { options } = commandLine(
  `npx tsx test/distributed/cassandra.ts [--nodes=3] [--commitlog-sync=batch]

Starts a Cassandra cluster of nodes of 850 MB on loopback addresses, with an empty table, and prints its STORE_URL. It
ends with this command, which removes its files. Needs Java 17 and Maven.
`,
  { nodes: 3, 'commitlog-sync': 'batch' },
)

const programs = cassandraClasspath()
if (typeof programs === 'string') throw new Error(programs)
const isSafe = options.nodes >= 3 && options['commitlog-sync'] !== 'periodic'
const settings = { commitlog_sync: options['commitlog-sync'] }
const cluster = await startCassandra(programs.classpath, { count: options.nodes, settings })
const url = cluster.url('plants', isSafe ? '' : 'accept_data_loss=true')
await migrateStore(url, Math.min(options.nodes, 3))
process.stdout.write(`STORE_URL='${url}'\n`)
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
await cluster.close()
