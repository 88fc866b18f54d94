import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type BuildContext, NotAvailable } from './driver.ts'

/**
 * Generates a client by a generator of openapi-generator, from the document in OpenAPI 3.1, into a directory of the
 * context. Maven fetches the version `openapi-generator` of versions.json.
 */
export async function generateClient(
  { directory, document, versions, run }: Pick<BuildContext, 'directory' | 'document' | 'versions' | 'run'>,
  generator: string,
  target: string,
  options: string[] = [],
): Promise<void> {
  for (const program of ['mvn', 'java'])
    await run(program, ['-version']).catch(() => {
      throw new NotAvailable(`${program} not found; install Maven and Java 17`)
    })
  const version = versions['openapi-generator']?.replace('Maven ', '')
  const jar = join(directory, '..', `openapi-generator-cli-${version}.jar`)
  const artifact = `-Dartifact=org.openapitools:openapi-generator-cli:${version}`
  if (!existsSync(jar))
    await run('mvn', ['-q', '-B', 'dependency:copy', artifact, `-DoutputDirectory=${join(directory, '..')}`])
  await run('java', ['-jar', jar, 'generate', '-i', document, '-g', generator, '-o', target, ...options])
}
