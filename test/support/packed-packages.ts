import { join } from 'node:path'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import { packages, writePackages } from '../../scripts/build/packages.ts'

const { PATH, HOME } = process.env
/** The environment of npm, which takes from its cache what it has. */
export const env = {
  PATH,
  HOME,
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
}

/** Runs a command in a directory, and returns what it prints. Rejects with that if the command fails. */
export async function run(cwd: string, ...command: string[]): Promise<string> {
  const { code, stdout, stderr } = await spawnProcess(command, { cwd, env }).untilEnded(600_000)
  if (code !== 0) throw new Error(`${command.join(' ')}: exit ${code}\n${stdout}${stderr}`)
  return stdout
}

/** Packs this repository's packages as they are published into a directory, and returns their files by name. */
export async function packPackages(directory: string): Promise<Map<string, string>> {
  await writePackages(directory)
  const files = new Map<string, string>()
  for (const name of packages) {
    const file = await run(join(directory, name), 'npm', 'pack', '--silent', '--pack-destination', directory)
    files.set(name, join(directory, file.trim()))
  }
  return files
}
