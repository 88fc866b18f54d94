import t from 'tap'
import { isStoreUrl, openStore } from '../../src/store/open.ts'

t.test('the URLs of stores', async (t) => {
  for (const url of ['memory:', 'sqlite:plants.db', 'sqlite:/var/lib/plants.db']) t.ok(isStoreUrl(url), url)
  for (const url of ['', 'memory', 'memory:x', 'sqlite:', 'mysql://x', 'plants.db', 'toString:'])
    t.notOk(isStoreUrl(url), url)
})

t.test('no store for another URL', async (t) => {
  for (const url of ['mysql://x', 'plants.db', 'toString:'])
    await t.rejects(openStore(url), /allowed: memory: or sqlite:PATH/)
})
