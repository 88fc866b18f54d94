import { writeFileSync } from 'node:fs'
import t from 'tap'
import { projectDocuments } from '../../src/cli/project-documents.ts'
import { enterDirectory } from '../support/enter-directory.ts'

/** Returns the path of the document on which a command works. */
const findDocument = (given?: string) => projectDocuments({ given })[0].path()

/** Returns whether the project accepts operations that cannot be served. */
const skipsUnsupported = () => projectDocuments()[0].skipsUnsupported(false)

const manifestOf = (settings: unknown) => JSON.stringify({ name: 'pets', 'fastify-contract': settings })

t.test('the commands find the document that package.json names', async (t) => {
  enterDirectory(t, {
    'package.json': manifestOf({ document: 'spec/petstore.json', skipUnsupported: true }),
    'openapi.yaml': '',
    spec: { 'petstore.json': '{}' },
  })
  t.equal(findDocument(), 'spec/petstore.json')
  t.equal(findDocument('openapi.yaml'), 'openapi.yaml', 'an argument counts more')
  t.equal(skipsUnsupported(), true)
})

t.test('without settings, the commands find openapi.json, or the only document of openapi/', async (t) => {
  enterDirectory(t, { openapi: { 'pets.json': '{}', 'README.md': '' } })
  t.equal(findDocument(), 'openapi/pets.json')
  t.equal(skipsUnsupported(), false)
  writeFileSync('openapi.json', '{}')
  t.equal(findDocument(), 'openapi.json')
})

t.test('settings that no command can use are named with their remedy', async (t) => {
  enterDirectory(t, { 'package.json': manifestOf({ document: 'missing.json' }) })
  t.throws(() => findDocument(), { message: 'missing.json does not exist; name an OpenAPI document' })
  writeFileSync('package.json', manifestOf({ document: 7 }))
  t.throws(() => findDocument(), {
    message: 'package.json, fastify-contract.document: 7 is no string; write a string',
  })
  writeFileSync('package.json', manifestOf({ file: 'a.yaml' }))
  t.throws(() => findDocument(), {
    message:
      'package.json, fastify-contract.file: unknown setting; expected document, origin, allowOrigin, client, overlays, skipUnsupported, documents',
  })
  writeFileSync('package.json', '{')
  t.throws(() => findDocument(), { message: /^package\.json: .*; correct the JSON$/ })
})
