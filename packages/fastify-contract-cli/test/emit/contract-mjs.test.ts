import t from 'tap'
import { compileDocument } from '../../src/emit/compile.ts'
import { writeStale } from '../../src/emit/generated-files.ts'
import { generatedContract } from '../../src/mock/mock-server.ts'

t.test('the generated module exports the document, the routes and the code of their schemas', async (t) => {
  const hostile = ['a`b $', '{process.exit(7)} \\` \\u0041 \u202e\r\n'].join('')
  const id = { type: 'integer', format: 'int64', const: 9007199254740993n }
  // An object literal would take the name for its prototype.
  const within = { const: JSON.parse('{"__proto__":{"a":1}}') }
  const schema = { type: 'object', properties: { id, within }, description: hostile }
  const named = { 200: { description: hostile, content: { 'application/json': { schema } } } }
  const document = {
    openapi: '3.1.0',
    info: { title: hostile, version: '1.0.0' },
    paths: { '/beds': { get: { operationId: 'listBeds', responses: named } } },
  }
  const { files, contract } = await compileDocument(document as never, 'openapi.yaml')
  t.notMatch(files['contract.mjs'], '\u202e', 'no control character hides what is run')
  const directory = t.testdir()
  await writeStale(files, directory)
  const { documentText, routes, schemaCode } = await generatedContract(directory)
  t.equal(documentText, files['openapi.json'])
  t.equal(JSON.parse(documentText).info.title, hostile)
  t.match(documentText, '"const": 9007199254740993\n')
  t.same(routes, contract.routes)
  t.match(JSON.stringify(routes), '"__proto__":{"a":1}')
  t.equal(String(schemaCode).replace(/\s/g, ''), String(contract.schemaCode).replace(/\s/g, ''))
})
