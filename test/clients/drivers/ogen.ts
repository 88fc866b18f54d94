import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Build } from '../driver.ts'
import { compileDriver, go, installProgram, writeModule } from './go.ts'
import { buildReduced } from './reduced.ts'

const configuration = `generator:
  features: { disable_all: true, enable: [paths/client] }
  ignore_not_implemented: [all]
`

/** Operations with styles that ogen rejects, and with a name without an ASCII letter. */
const suspects = [
  'querySpaceDelimitedObject',
  'queryPipeDelimitedObject',
  'cookieExplodedArray',
  'cookieExplodedObject',
  'bodyJsonUnicodeNames',
]

export const build: Build = async (context) => {
  const { ogen: version = '' } = context.versions
  const program = await installProgram(context, `github.com/ogen-go/ogen/cmd/ogen@${version}`)
  let skipped: Record<string, string> = {}
  const missing = await buildReduced(context, suspects, async ({ documentJson }) => {
    await rm(join(context.directory, 'api'), { recursive: true, force: true })
    await writeModule(context, [`github.com/ogen-go/ogen ${version}`])
    await writeFile(join(context.directory, 'ogen.yaml'), configuration)
    const output = await context.run(program, [
      '--target',
      'api',
      '--package',
      'api',
      '--config',
      'ogen.yaml',
      documentJson,
    ])
    skipped = await skippedOperations(output, documentJson)
    await go(context, 'mod', 'tidy')
    await go(context, 'build', './api')
  })
  return { ...(await compileDriver(context, ['values.go', 'ogen.go'])), missing: { ...skipped, ...missing } }
}

/** Returns the operations that ogen says it leaves out, which it names by their lines. */
async function skippedOperations(output: string, document: string): Promise<Record<string, string>> {
  const lines = (await readFile(document, 'utf8')).split('\n')
  const skipped: Record<string, string> = {}
  for (const [, line, reason = ''] of output.matchAll(
    /Skipping operation\s+\{"at": "[^"]*:(\d+):\d+", "reason_error": "([^"]*)/g,
  )) {
    const [, id = ''] = /"operationId": "(\w+)"/.exec(lines.slice(Number(line) - 1).join('\n')) ?? []
    skipped[id] = reason
  }
  return skipped
}
