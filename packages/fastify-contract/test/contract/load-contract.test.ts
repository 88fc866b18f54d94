import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { compileDocument } from 'fastify-contract-cli/compile'
import t from 'tap'
import { loadContract } from '../../src/contract/routes.ts'

const { files } = await compileDocument(
  {
    openapi: '3.1.0',
    info: { title: 'Garden', version: '1.0.0' },
    paths: { '/beds': { get: { operationId: 'listBeds', responses: { 204: { description: 'None.' } } } } },
  },
  'openapi.yaml',
)
const digests = JSON.parse(files['digests.json'] as string)

/** Writes the generated files of a document into a directory. Returns its URL. */
function write(directory: string): URL {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  return pathToFileURL(`${directory}/`)
}

t.test('generated files that belong together are loaded', async (t) => {
  const { documentText, routes, schemaCode } = await loadContract(write(t.testdir({})), digests)
  t.equal(documentText, files['openapi.json'])
  t.equal(schemaCode, files['schemas.js'])
  t.same(routes, JSON.parse(files['routes.json'] as string))
})

t.test('a damaged or missing file is rejected in one line with a fix', async (t) => {
  for (const name of ['openapi.json', 'routes.json', 'schemas.js']) {
    const directory = t.testdir({})
    const url = write(directory)
    const path = join(directory, name)
    writeFileSync(path, `${readFileSync(path, 'utf8')}\n`)
    const fix = 'run fastify-contract generate, then build again'
    await t.rejects(loadContract(url, digests), {
      message: `generated/${name} does not belong to this build; ${fix}`,
    })
    rmSync(path)
    await t.rejects(loadContract(url, digests), { message: `generated/${name} cannot be read (ENOENT); ${fix}` })
  }
})
