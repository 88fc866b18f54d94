import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/**
 * Copies the build to `directory`, as a project of its own, and replaces each key of `changes` with its value. The
 * result is a control: a service with weaker guarantees, in which the scenario must detect failures. Returns the path
 * of the copied build. Throws when the build lacks one of the texts.
 */
export async function copyWeaker(directory: string, changes: Record<string, string>): Promise<string> {
  const build = join(directory, 'dist')
  await mkdir(directory, { recursive: true })
  await cp('dist', build, { recursive: true })
  await cp('generated', join(directory, 'generated'), { recursive: true })
  await symlink(resolve('node_modules'), join(directory, 'node_modules'))
  const missing = new Set(Object.keys(changes))
  for (const name of await readdir(build, { recursive: true })) {
    if (!name.endsWith('.js')) continue
    let text = await readFile(join(build, name), 'utf8')
    for (const [from, to] of Object.entries(changes)) {
      if (text.includes(from)) missing.delete(from)
      text = text.replaceAll(from, to)
    }
    await writeFile(join(build, name), text)
  }
  for (const from of missing) throw new Error(`the build does not contain "${from}"; adapt the control to the code`)
  return build
}
