import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { readSources } from '../../../src/read/source-files.ts'
import { ownPath } from '../../support/own-path.ts'

const directory = ownPath('test/read/overlays/refused')
const document = join(directory, 'document.yaml')

for (const name of readdirSync(directory).filter((each) => each !== basename(document))) {
  const path = join(directory, name)
  // The first line of each overlay has what is expected.
  const [line = ''] = readFileSync(path, 'utf8').split('\n')
  const expected = line.slice(2).replaceAll(/(?<=[ (])[\w-]+\.yaml/g, (name) => join(directory, name))
  const message = `${path}:${expected}`
  t.test(`an overlay with one mistake is refused with its place: ${name}`, async (t) => {
    await t.rejects(readSources(document, undefined, undefined, { overlays: [path] }), { message })
  })
}
