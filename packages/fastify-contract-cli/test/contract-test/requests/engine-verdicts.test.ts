import { allKeywordsDocument } from 'fastify-contract-test-support/requests/all-keywords-document'
import t from 'tap'
import { names } from '../../documents/served-documents.ts'
import { judgeRequests } from './judge-requests.ts'
import { servedDocument } from './served-document.ts'

for (const name of names)
  t.test(`${name}: the engine accepts each valid request, and rejects each violation`, async (t) => {
    const { requests, problems } = await judgeRequests(name, await servedDocument(name), { isOwn: true, runs: 1 })
    t.same(problems, [])
    t.ok(requests.valid > 0)
  })

t.test('the engine accepts and rejects requests of a document with every keyword, with each violation', async (t) => {
  const { requests, problems, violations } = await judgeRequests('all keywords', allKeywordsDocument, {
    isOwn: true,
    runs: 30,
  })
  t.same(problems, [])
  t.ok(requests.valid > 300 && requests.invalid > 300)
  for (const one of [
    'getBed path bed below the least',
    'putBed body /family/children/items/name null instead of string',
  ])
    t.ok(violations.includes(one), one)
})
