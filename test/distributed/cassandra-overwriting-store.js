import cassandra from 'cassandra-driver'
import { openStore } from 'plant-store/store'

/** Opens a defective store in which the last write wins. */
export async function open(url) {
  const inner = url.slice(url.indexOf('?') + 1)
  const store = await openStore(inner)
  const [, hosts, keyspace] = /^cassandra:\/\/([^/]+)\/(\w+)/.exec(inner)
  const client = new cassandra.Client({
    contactPoints: hosts.split(','),
    keyspace,
    localDataCenter: 'datacenter1',
    encoding: { useBigIntAsLong: true },
    queryOptions: { prepare: true, consistency: cassandra.types.consistencies.quorum },
  })
  await client.connect()
  return {
    ...store,
    async create({ id, name, tag }) {
      await client.execute('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)', [id, name, tag ?? null])
      return 'created'
    },
    async close() {
      await Promise.all([store.close(), client.shutdown()])
    },
  }
}
