import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Build } from '../driver.ts'
import { generateClient } from '../openapi-generator.ts'
import { compile, compileDriver, copyLibraries } from './java.ts'
import { buildReduced } from './reduced.ts'

/** The library is the default of the generator, okhttp-gson. */
export const build: Build = async (context) => {
  const api = join(context.directory, 'api')
  const missing = await buildReduced(context, [], async (documents) => {
    for (const directory of ['api', 'classes', 'lib'])
      await rm(join(context.directory, directory), { recursive: true, force: true })
    await generateClient({ ...context, ...documents }, 'java', api, ['--library', 'okhttp-gson'])
    await copyLibraries(context, join(api, 'pom.xml'))
    await compile(context, join(api, 'src/main/java'))
  })
  return { ...(await compileDriver(context, 'OpenApiGenerator')), missing }
}
