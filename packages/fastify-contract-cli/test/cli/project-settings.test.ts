import { writeFileSync } from 'node:fs'
import t from 'tap'
import { findDocument, skipsUnsupported } from '../../src/cli/project-files.ts'
import { enterDirectory } from '../support/enter-directory.ts'

const manifestOf = (settings: unknown) => JSON.stringify({ name: 'pets', 'fastify-contract': settings })

t.test('the commands find the document that package.json names', async (t) => {
  enterDirectory(t, {
    'package.json': manifestOf({ document: 'spec/petstore.json', skipUnsupported: true }),
    'openapi.yaml': '',
    spec: { 'petstore.json': '{}' },
  })
  t.equal(findDocument(undefined), 'spec/petstore.json')
  t.equal(findDocument('openapi.yaml'), 'openapi.yaml', 'an argument counts more')
  t.equal(skipsUnsupported(), true)
})

t.test('without settings, the commands find openapi.json, or the only document of openapi/', async (t) => {
  enterDirectory(t, { openapi: { 'pets.json': '{}', 'README.md': '' } })
  t.equal(findDocument(undefined), 'openapi/pets.json')
  t.equal(skipsUnsupported(), false)
  writeFileSync('openapi.json', '{}')
  t.equal(findDocument(undefined), 'openapi.json')
})

t.test('settings that no command can use are named with their remedy', async (t) => {
  enterDirectory(t, { 'package.json': manifestOf({ document: 'missing.json' }) })
  t.throws(() => findDocument(undefined), { message: 'missing.json does not exist; name an OpenAPI document' })
  writeFileSync('package.json', manifestOf({ document: 7 }))
  t.throws(() => findDocument(undefined), {
    message: 'package.json, fastify-contract.document: 7 is no string; write a string',
  })
  writeFileSync('package.json', manifestOf({ documents: 'a.yaml' }))
  t.throws(() => findDocument(undefined), {
    message:
      'package.json, fastify-contract.documents: unknown setting; expected document, origin, allowOrigin, client, overlays, skipUnsupported',
  })
  writeFileSync('package.json', '{')
  t.throws(() => findDocument(undefined), { message: /^package\.json: .*; correct the JSON$/ })
})
