import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildContext, type Built, NotAvailable } from '../driver.ts'

/** Python modules that drivers share. */
const shared = ['run_cases.py', 'by_hand.py']

/** Makes a virtual environment with the packages of `versions` for a client. Returns the path of its Python. */
export async function installPackages(context: BuildContext): Promise<string> {
  await context.run('python3', ['-m', 'venv', 'venv']).catch(() => {
    throw new NotAvailable('python3 with venv; install Python 3.11 or later')
  })
  const python = join(context.directory, 'venv', 'bin', 'python')
  const packages = Object.entries(context.versions).filter(([, version]) => /^\d/.test(version))
  const pinned = packages.map(([name, version]) => `${name}==${version}`)
  await context.run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...pinned])
  return python
}

/** Copies a module of the folder `python` into the directory of a client, and returns the command that runs it. */
export async function pythonClient(context: BuildContext, module: string, python: string): Promise<Built> {
  for (const file of [...shared, `${module}.py`])
    await copyFile(fileURLToPath(new URL(`python/${file}`, import.meta.url)), join(context.directory, file))
  return { command: [python, 'run_cases.py', module, context.documentJson], env: { PYTHONWARNINGS: 'ignore' } }
}
