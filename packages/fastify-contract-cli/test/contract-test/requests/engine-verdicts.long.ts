import t from 'tap'
import { exampleDocuments } from '../../conformance/example-documents.ts'
import { names } from '../../documents/served-documents.ts'
import { judgeRequests } from './judge-requests.ts'
import { servedDocument } from './served-document.ts'

for (const isOwn of [true, false]) {
  const kind = isOwn ? 'this engine' : 'any server'
  for (const name of names)
    t.test(`${name}: requests for ${kind} get the response that they should`, async (t) => {
      const { problems } = await judgeRequests(name, await servedDocument(name), { isOwn, runs: 30 })
      t.same(problems, [])
    })

  // Swagger 2.0 is not served; the document of the other one names a security scheme that it does not define.
  const documents = exampleDocuments().filter(([name]) => !/^2\.0|response-http-behavior/.test(name))
  for (const [name, document] of documents)
    t.test(`${name}: requests for ${kind} get the response that they should`, async (t) => {
      const { problems } = await judgeRequests(name, document, { isOwn, runs: 5 })
      t.same(problems, [])
    })
}
