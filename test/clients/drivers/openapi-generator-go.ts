import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Build } from '../driver.ts'
import { generateClient } from '../openapi-generator.ts'
import { compileDriver, go, writeModule } from './go.ts'
import { buildReduced } from './reduced.ts'

/** A name without an ASCII letter becomes an empty name. */
const suspects = ['bodyJsonUnicodeNames']

export const build: Build = async (context) => {
  const api = join(context.directory, 'api')
  const missing = await buildReduced(context, suspects, async (documents) => {
    await rm(api, { recursive: true, force: true })
    await writeModule(context, ['gopkg.in/validator.v2 v2.0.1'])
    const properties = '--additional-properties=packageName=api,withGoMod=false'
    await generateClient({ ...context, ...documents }, 'go', api, [properties])
    // Examples of tests, which import packages of their own.
    await rm(join(api, 'test'), { recursive: true, force: true })
    await go(context, 'mod', 'tidy')
    await go(context, 'build', './api')
  })
  return { ...(await compileDriver(context, ['values.go', 'openapi_generator.go'])), missing }
}
