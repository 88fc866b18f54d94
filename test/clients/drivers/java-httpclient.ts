import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Build } from '../driver.ts'
import { compileDriver, copyLibraries } from './java.ts'

export const build: Build = async (context) => {
  const pom = join(context.directory, 'pom.xml')
  const gson = `<groupId>com.google.code.gson</groupId><artifactId>gson</artifactId><version>${context.versions.gson}</version>`
  await writeFile(
    pom,
    `<project><modelVersion>4.0.0</modelVersion><groupId>local</groupId><artifactId>client</artifactId><version>1</version>
<dependencies><dependency>${gson}</dependency></dependencies></project>
`,
  )
  await copyLibraries(context, pom)
  return compileDriver(context, 'ByHand')
}
