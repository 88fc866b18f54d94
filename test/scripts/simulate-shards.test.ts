import { readFileSync } from 'node:fs'
import t from 'tap'
import { idOrders } from '../../scripts/shards/id-orders.ts'
import { fractionOf, mixBits } from '../../scripts/shards/mix-bits.ts'
import { shardLoad } from '../../scripts/shards/sharding.ts'
import { zipfRanks } from '../../scripts/shards/zipf.ts'
import { run } from '../support/child-process.ts'

t.test('the command prints the load of each order of ids under each sharding', async (t) => {
  const args = ['--shards=2,8', '--creates=8000', '--keys=100', '--batch=16']
  const { code, stdout, stderr } = await run(t, 'scripts/simulate-shards.ts', {}, args).ended
  t.same([code, stderr], [0, ''])
  const lines = stdout.split('\n').map((line) => line.trim().split(/\s{2,}/))
  /** Returns the figures of eight shards in a table, for ranges and for a hash. */
  const figures = (order: string, first: number) => {
    const found = lines.filter(([name]) => name === order).slice(first, first + 2)
    t.same(
      found.map(([, sharding]) => sharding),
      ['range', 'hash'],
    )
    return found.map(([, , , eight]) => Number(eight)) as [number, number]
  }
  const capacity = (order: string) => figures(order, 0)
  const batch = (order: string) => figures(order, 2)
  t.equal(capacity('sequential')[0], 1, 'one range receives all sequential ids')
  t.ok(capacity('sequential')[1] > 6.5, 'a hash spreads sequential ids')
  for (const each of capacity('random')) t.ok(each > 6.5, 'any sharding spreads random ids')
  const [rangesOfClients, hashOfClients] = capacity('by client')
  t.ok(rangesOfClients < 5 && hashOfClients > 6.5, 'a hash spreads the ids of a busy client')
  for (const each of capacity('repeated')) t.ok(each < 5.3, 'nothing spreads one popular id')
  t.equal(batch('sequential')[0], 1, 'a batch of sequential ids touches one range')
  t.ok(batch('sequential')[1] > 6, 'a hash spreads a batch')
})

t.test('docs/scaling.md has the figures of the command', async (t) => {
  const cells = (pattern: RegExp, text: string) =>
    Array.from(text.matchAll(pattern), ([line]) => line.split(/\s*\|\s*|\s{2,}/).filter((cell) => cell !== ''))
  const documented = cells(/^\| (sequential|random|by client|repeated) .*$/gm, readFileSync('docs/scaling.md', 'utf8'))
  const { stdout } = await run(t, 'scripts/simulate-shards.ts').ended
  const printed = cells(/^(sequential|random|by client|repeated) .*$/gm, stdout)
  t.equal(printed.length, 16)
  t.same(
    documented,
    printed.slice(0, 8).map((row, index) => [...row, printed[index + 8]?.[4]]),
  )
})

t.test('the same seed gives the same ids, another seed others', async (t) => {
  const orders = (seed: number) => idOrders({ creates: 100, keys: 10, skew: 1, seed })
  t.same(orders(1), orders(1))
  t.notSame(orders(1).random, orders(2).random)
})

t.test('only repeated ids occur twice, and clients count up within ranges of their own', async (t) => {
  const { repeated, ...unique } = idOrders({ creates: 10_000, keys: 1_000, skew: 0.99, seed: 3 })
  for (const [order, ids] of Object.entries(unique)) t.equal(new Set(ids).size, 10_000, order)
  t.ok(new Set(repeated).size <= 1_000)
  const last = new Map<bigint, bigint>()
  const others = Array.from(unique['by client'] as BigInt64Array).filter((id) => {
    const before = last.get(id >> 40n) ?? (id >> 40n) << 40n
    last.set(id >> 40n, id)
    return id !== before + 1n
  })
  t.same(others, [])
})

t.test("key popularity follows Zipf's law", async (t) => {
  const rank = zipfRanks(3, 1)
  // The shares of the three keys are 6/11, 3/11 and 2/11.
  const found = [0, 5.99, 6.01, 8.99, 9.01, 10.99].map((eleventh) => rank(eleventh / 11))
  t.same(found, [0, 0, 1, 1, 2, 2])
})

t.test('ranges have equal numbers of rows, and the load is measured on the later half', async (t) => {
  const ids = BigInt64Array.from([10n, -5n, 10n, 30n, 20n, 10n, -7n, 25n, 20n, 30n, 29n, -5n])
  // The first half of the ids stores the rows -5, 10, 20 and 30, so the second range begins with 20.
  t.same(shardLoad('range', ids, 2, 2), { capacity: 6 / 4, shardsOfBatch: 5 / 3 })
})

t.test("each bit of an id changes half of the hash's bits", async (t) => {
  const changed = Array.from({ length: 64 }, (_, bit) => {
    const bits = (mixBits(5n) ^ mixBits(5n ^ (1n << BigInt(bit)))).toString(2)
    return bits.replaceAll('0', '').length
  })
  t.ok(Math.min(...changed) > 16 && Math.max(...changed) < 48, changed.join())
  t.equal(fractionOf(0n), 0)
  t.ok(fractionOf(2n ** 64n - 1n) < 1)
})
