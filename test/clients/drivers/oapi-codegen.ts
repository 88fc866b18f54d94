import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Build } from '../driver.ts'
import { compileDriver, go, installProgram, writeModule } from './go.ts'
import { buildReduced } from './reduced.ts'

const configuration = `package: api
generate: { models: true, client: true }
output: api/api.go
`

export const build: Build = async (context) => {
  const { 'oapi-codegen': version = '', 'oapi-codegen/runtime': runtime = '' } = context.versions
  const path = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen'
  const program = await installProgram(context, `${path}@${version}`)
  const api = join(context.directory, 'api')
  const missing = await buildReduced(context, [], async ({ documentJson }) => {
    await rm(api, { recursive: true, force: true })
    await mkdir(api)
    await writeModule(context, [`github.com/oapi-codegen/runtime ${runtime}`])
    await writeFile(join(context.directory, 'configuration.yaml'), configuration)
    await context.run(program, ['-config', 'configuration.yaml', documentJson])
    await go(context, 'mod', 'tidy')
    await go(context, 'build', './api')
  })
  return { ...(await compileDriver(context, ['values.go', 'raw_body.go', 'oapi_codegen.go'])), missing }
}
