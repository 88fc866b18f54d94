import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Copies a module of this directory into the directory of a client, and returns the command that runs it. */
export async function javascriptClient(context, moduleUrl) {
  const module = join(context.directory, 'client.js')
  await copyFile(fileURLToPath(moduleUrl), module)
  for (const file of ['run-cases.js', 'requests.js', 'values.js'])
    await copyFile(fileURLToPath(new URL(file, import.meta.url)), join(context.directory, file))
  return { command: [process.execPath, 'run-cases.js', module, context.documentJson] }
}
