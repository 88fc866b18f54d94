import { commandLine } from '../packages/fastify-contract/src/cli/command-line.ts'
import { table } from './benchmark/text-table.ts'
import { idOrders } from './shards/id-orders.ts'
import { type ShardLoad, shardings, shardLoad } from './shards/sharding.ts'

const { options } = commandLine(
  `npm run simulate:shards [-- --shards 4,16,64,256] [--creates 200000] [--batch 64] [--keys 10000] [--skew 0.99]
                        [--seed 1]

Simulates how creates are distributed over shards, without a database. For each way in which clients choose ids and each
way to divide ids among shards, it prints the capacity of all shards as a multiple of one shard, and the average number
of shards with rows of one batch, which is committed as one transaction.

ids  sequential: 1, 2, 3 …; random: 64 random bits; by client: each of --keys clients counts up in a range of its own;
     repeated: one of --keys ids. The popularity of clients and repeated ids follows Zipf's law with the exponent
     --skew.
sharding  range: ranges of ids that have the same number of rows after half of the creates; the other half is
     counted. hash: equal ranges of a hash of the id.
`,
  { shards: [4, 16, 64, 256], creates: 200_000, batch: 64, keys: 10_000, skew: 0.99, seed: 1 },
)
const { shards, creates, batch, keys, skew, seed } = options

const rows = Object.entries(idOrders({ creates, keys, skew, seed })).flatMap(([order, ids]) =>
  Object.keys(shardings).map((sharding) => ({
    names: [order, sharding],
    loads: shards.map((count) => shardLoad(sharding, ids, count, batch)),
  })),
)
const print = (title: string, cell: (load: ShardLoad) => string) => {
  const lines = rows.map(({ names, loads }) => [...names, ...loads.map(cell)])
  console.log(`\n${title}\n${table([['ids', 'sharding', ...shards.map(String)], ...lines])}`)
}
console.log(`${creates} creates, ${keys} clients or repeated ids, skew ${skew}, seed ${seed}`)
print('creates of all shards, as a multiple of one, by the number of shards', ({ capacity }) => capacity.toFixed(1))
print(`shards of a batch of ${batch}, by the number of shards`, ({ shardsOfBatch }) => shardsOfBatch.toFixed(1))
