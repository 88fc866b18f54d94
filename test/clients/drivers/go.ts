import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildContext, type Built, NotAvailable } from '../driver.ts'

/** Returns the environment of go: the version of versions.json, which it downloads, and at most two compilers. */
const environment = ({ versions }: BuildContext) => ({
  GOTOOLCHAIN: `go${versions.go}`,
  GOFLAGS: '-mod=mod -buildvcs=false -p=2',
})

/** Runs go in the directory of a client. */
export const go = (context: BuildContext, ...args: string[]): Promise<string> =>
  context.run('go', args, { env: environment(context) })

/** Installs the program of a package, such as `github.com/a/b/cmd/c@v1.2.3`. Returns its path. */
export async function installProgram(context: BuildContext, path: string): Promise<string> {
  await needGo(context)
  await context.run('go', ['install', path], { env: { ...environment(context), GOBIN: context.directory } })
  return join(context.directory, path.replace(/^.*\//, '').replace(/@.*/, ''))
}

async function needGo(context: BuildContext): Promise<void> {
  await context.run('go', ['version']).catch(() => {
    throw new NotAvailable('Go 1.21 or later')
  })
}

/** Makes the directory of a client a module with these requirements, such as `github.com/a/b v1.2.3`. */
export async function writeModule(context: BuildContext, requirements: string[]): Promise<void> {
  await needGo(context)
  const lines = ['module client', 'go 1.25', ...requirements.map((requirement) => `require ${requirement}`)]
  await writeFile(join(context.directory, 'go.mod'), `${lines.join('\n')}\n`)
}

/** Compiles the driver with the files of this list from go/. Returns the client. */
export async function compileDriver(context: BuildContext, files: string[]): Promise<Built> {
  for (const file of ['main.go', 'document.go', ...files])
    await copyFile(fileURLToPath(new URL(`go/${file}`, import.meta.url)), join(context.directory, file))
  await go(context, 'mod', 'tidy')
  await go(context, 'build', '-o', 'driver', '.')
  return { command: [join(context.directory, 'driver'), context.documentJson] }
}
