import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { contractChanges } from '../../src/changes/contract-changes.ts'
import { ownPath } from '../support/own-path.ts'

const document = () => parse(readFileSync(ownPath('test/documents/version-3-2/openapi.yaml'), 'utf8'))
type Edited = ReturnType<typeof document>

t.test('documents of OpenAPI 3.2 are compared', async (t) => {
  const edits: [what: string, edit: (edited: Edited) => void, weights: string[]][] = [
    ['nothing', () => {}, []],
    ['an additional operation is gone', ({ paths }) => delete paths['/boxes'].additionalOperations.COPY, ['breaking']],
    ['QUERY is gone', ({ paths }) => delete paths['/boxes'].query, ['breaking']],
    [
      'a shared media type asks for more',
      ({ components }) => components.mediaTypes.Search.schema.required.push('color'),
      ['breaking'],
    ],
    [
      'an item may have more',
      ({ components }) => Object.assign(components.schemas.Box.properties, { color: { type: 'string' } }),
      ['compatible'],
    ],
  ]
  for (const [what, edit, weights] of edits) {
    const edited = document()
    edit(edited)
    const directory = t.testdir({ 'released.json': JSON.stringify(document()), 'edited.json': JSON.stringify(edited) })
    const changes = await contractChanges(join(directory, 'released.json'), join(directory, 'edited.json'), edited)
    const found = [...new Set(changes.map(({ weight }) => weight))].filter((weight) => weight !== 'text')
    t.same(found, weights, what)
  }
})
