import { spawnSync } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type RunningProcess, spawnProcess } from 'fastify-contract-test-support/child-process'
import type { ServiceName } from './faults.ts'
import type { Installed } from './install.ts'

/** The credentials of the services; the narrow token has no scope. */
export const credentials = {
  token: 'editor-token-0123456789-0123456789-0123456789',
  narrowToken: 'visitor-token-0123456789-0123456789-0123456789',
}

const room = 'test/contract-test-comparison'

/** The headers of accepted credentials of each service. Schemathesis compares the case of their names with the document. */
export const headersOf: Record<ServiceName, Record<string, string>> = {
  plants: { Authorization: `Bearer ${credentials.token}` },
  books: { Authorization: `Bearer ${credentials.token}`, 'X-Key': credentials.token },
  heroes: {},
}

/** The variables of the contract test with the credentials of each service. */
export const variablesOf: Record<ServiceName, Record<string, string>> = {
  plants: { CONTRACT_TEST_BEARER: credentials.token },
  books: {
    CONTRACT_TEST_TOKEN: credentials.token,
    CONTRACT_TEST_TOKEN_NARROW: credentials.narrowToken,
    CONTRACT_TEST_KEY: credentials.token,
  },
  heroes: {},
}

/** Returns the path of the document of a service. */
export const documentOf = (service: ServiceName, { directory }: Installed): string =>
  resolve(
    { plants: 'generated/openapi.json', books: `${room}/books.yaml`, heroes: join(directory, 'heroes.json') }[service],
  )

/** Writes the document of the service in Python. */
export async function writeDocuments({ directory, fastapi, tutorial }: Installed): Promise<void> {
  const args = [`${room}/heroes.py`, tutorial, '--document']
  const { stdout, stderr, status } = spawnSync(fastapi, args, { encoding: 'utf8', timeout: 60_000 })
  if (status !== 0) throw new Error(`heroes.py failed: ${stderr}`)
  await writeFile(join(directory, 'heroes.json'), stdout)
}

/**
 * Starts a service with a fault, or without one, and an empty store; resolves with its URL once it listens. The fault
 * `unmended` of the tutorial stands for its source as it is.
 */
export async function startService(
  service: ServiceName,
  fault: string,
  installed: Installed,
): Promise<{ url: string; running: RunningProcess }> {
  const { directory, fastapi, tutorial } = installed
  const cwd = join(directory, 'heroes')
  await rm(cwd, { recursive: true, force: true })
  await mkdir(cwd)
  const isUnmended = fault === 'unmended'
  const python = [fastapi, resolve(room, 'heroes.py'), tutorial, ...(isUnmended ? ['--unmended'] : [])]
  const node = (file: string) => [process.execPath, '--import=tsx', `${room}/${file}`]
  const command = { plants: node('plant-service.ts'), books: node('book-service.ts'), heroes: python }[service]
  const { token: TOKEN, narrowToken: NARROW_TOKEN } = credentials
  const running = spawnProcess(command, {
    env: { FAULT: isUnmended ? '' : fault, TOKEN, NARROW_TOKEN },
    ...(service === 'heroes' && { cwd }),
  })
  const [, port] = await running.find('stdout', /listening on (\d+)\n/)
  return { url: `http://127.0.0.1:${port}`, running }
}
