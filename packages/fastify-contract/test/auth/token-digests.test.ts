import { hash, randomBytes } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { digestLookup } from '../../src/auth/tokens.ts'

const digest = (token: string) => hash('sha256', token)

t.test('a token is found by its digest, the first time and each later time', (t) => {
  const asked: string[] = []
  const find = digestLookup((digest) => {
    asked.push(digest)
    return 'client'
  })
  t.equal(find('one'), 'client')
  t.equal(find('one'), 'client')
  t.same(asked, [digest('one'), digest('one')])
  t.end()
})

t.test('a token that is removed from the list is no longer found', (t) => {
  const clients = new Map([[digest('one'), 'client']])
  const find = digestLookup((digest) => clients.get(digest))
  t.equal(find('one'), 'client')
  clients.clear()
  t.equal(find('one'), undefined)
  clients.set(digest('one'), 'other')
  t.equal(find('one'), 'other')
  t.end()
})

t.test('tokens beyond the size of the cache, and long tokens, are still found', (t) => {
  const find = digestLookup((digest) => digest)
  const tokens = Array.from({ length: 1_001 }, (_, index) => `token ${index}`)
  for (const token of [...tokens, ...tokens, 'x'.repeat(2_000)]) {
    if (find(token) !== digest(token)) t.fail(token)
  }
  t.end()
})

t.test('the cache keeps tokens in memory, but not the headers that they were sent in', (t) => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const heapSize = () => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const find = digestLookup(() => 'client')
  const before = heapSize()
  for (let sent = 0; sent < 1_000; sent++) {
    const header = Buffer.from(`Bearer ${' '.repeat(15_000)}${randomBytes(32).toString('hex')}`).toString()
    find(header.slice(-64))
  }
  const kept = heapSize() - before
  t.ok(kept < 2 ** 22, `${kept} bytes`)
  t.equal(find('one'), 'client')
  t.end()
})
