import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RunningProcess, spawnProcess } from 'fastify-contract-test-support/child-process'
import type { Case } from './driver.ts'

const settings = 'docker,workflow,agents,env,editorconfig,gitignore,readme,docs'

/** Writes the project of the reference implementation by init, with handlers that record what they receive. */
export async function writeReferenceProject(
  directory: string,
  cases: Case[],
  run: (program: string, args: string[]) => Promise<string>,
): Promise<void> {
  if (!existsSync(join(directory, 'generated')))
    await run('npx', ['tsx', 'scripts/init.ts', '--without', settings, 'test/clients/everything.yaml', directory])
  const operations = [...new Set(cases.map(({ operation }) => operation))]
  writeFileSync(join(directory, 'src', 'reference.ts'), readFileSync('test/clients/reference.ts'))
  writeFileSync(
    join(directory, 'src', 'handlers.ts'),
    `import type { Handlers } from '../generated/handler-types.d.ts'
import { handlersOf } from './reference.ts'

export const handlers = handlersOf(${JSON.stringify(operations)}) as unknown as Handlers
`,
  )
}

/** Starts the service of the project. Resolves with its port when it listens. */
export async function startReference(
  directory: string,
  controlUrl: string,
  token: string,
): Promise<{ service: RunningProcess; port: number }> {
  const env = { ACCESS_TOKENS: token, CONTROL_URL: controlUrl, HOST: '127.0.0.1', LOG_LEVEL: 'info' }
  const program = [process.execPath, '--import=tsx', 'src/server.ts']
  const service = spawnProcess(program, { cwd: directory, env })
  const [, port] = await service.find('stdout', /listening\D+127\.0\.0\.1:(\d+)/)
  return { service, port: Number(port) }
}
