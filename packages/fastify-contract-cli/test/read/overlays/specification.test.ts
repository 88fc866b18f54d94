import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { readOverlays } from '../../../src/read/overlays/overlay-file.ts'
import { readSources } from '../../../src/read/source-files.ts'
import { ownPath } from '../../support/own-path.ts'

const directory = ownPath('test/read/overlays/specification')

for (const name of readdirSync(join(directory, 'compliant-sets')).filter((each) => each !== 'README.md')) {
  t.test(`the compliant set ${name} of the specification has its output`, async (t) => {
    const pathOf = (file: string) => join(directory, 'compliant-sets', name, `${file}.yaml`)
    const sources = await readSources(pathOf('openapi'), undefined, undefined, { overlays: [pathOf('overlay')] })
    const [source] = sources.files.values()
    t.strictSame(source?.value, parse(readFileSync(pathOf('output'), 'utf8')))
  })
}

for (const version of ['v1.0', 'v1.1']) {
  t.test(`an overlay that the schema of ${version} accepts is read`, async (t) => {
    const folder = join(directory, version, 'pass')
    for (const name of readdirSync(folder)) t.resolves(readOverlays([join(folder, name)], new Map()), name)
  })

  t.test(`an overlay that the schema of ${version} rejects is an error of one line with its place`, async (t) => {
    const folder = join(directory, version, 'fail')
    for (const name of readdirSync(folder)) {
      const message = new RegExp(`^\\S+/${name}(?::\\d+:\\d+)?: [^\\n]+$`)
      await t.rejects(readOverlays([join(folder, name)], new Map()), { name: 'SourceError', message }, name)
    }
  })
}
