import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Installs the packages of a client in JavaScript, copies its module beside them, and returns the command that runs it:
 * on the package `node` if the client has one, and through tsx if it has that.
 */
export async function javascriptClient(context, moduleUrl) {
  const { directory, versions, documentJson } = context
  await context.npmInstall()
  const module = join(directory, 'client.js')
  await copyFile(fileURLToPath(moduleUrl), module)
  for (const file of ['run-cases.js', 'requests.js', 'values.js'])
    await copyFile(fileURLToPath(new URL(file, import.meta.url)), join(directory, file))
  const node = versions.node === undefined ? process.execPath : join(directory, 'node_modules', '.bin', 'node')
  const loader = versions.tsx === undefined ? [] : ['--import=tsx']
  return { command: [node, '--no-warnings', ...loader, 'run-cases.js', module, documentJson] }
}

/** Returns the environment in which a program of an installed package runs on the package `node`. */
export function environmentOf({ directory }) {
  return { PATH: `${join(directory, 'node_modules', '.bin')}:${process.env.PATH}` }
}
