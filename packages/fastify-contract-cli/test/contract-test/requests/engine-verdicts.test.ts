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
