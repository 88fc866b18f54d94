import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import digests from '../../generated/digests.json' with { type: 'json' }
import { loadContract } from '../../packages/fastify-contract/src/serve/contract.ts'

/** Copies generated/ so that a test may damage it. Returns the URL of the copy. */
function copy(directory: string) {
  cpSync('generated', directory, { recursive: true })
  return pathToFileURL(`${directory}/`)
}

t.test('generated files that belong together are loaded', async (t) => {
  const { documentText, routes, schemaCode } = await loadContract(copy(t.testdir({})), digests)
  t.equal(documentText, readFileSync('generated/openapi.json', 'utf8'))
  t.equal(schemaCode, readFileSync('generated/schemas.js', 'utf8'))
  t.same(routes, JSON.parse(readFileSync('generated/routes.json', 'utf8')))
})

t.test('a damaged or missing file is rejected in one line with a fix', async (t) => {
  for (const name of ['openapi.json', 'routes.json', 'schemas.js']) {
    const directory = t.testdir({})
    const url = copy(directory)
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
