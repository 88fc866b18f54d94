import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Build, BuildContext } from '../driver.ts'
import { installPackages, pythonClient } from './python.ts'

export const build: Build = async (context) => {
  const python = await installPackages(context)
  const generator = join(context.directory, 'venv', 'bin', 'openapi-python-client')
  const output = join(context.directory, 'generated')
  rmSync(output, { recursive: true, force: true })
  const args = ['generate', '--path', context.document, '--output-path', 'generated', '--meta', 'none']
  const warnings = await context.run(generator, args)
  return {
    ...(await pythonClient(context, 'openapi_python_client_calls', python)),
    missing: missingOf(context, warnings),
  }
}

/** Returns the operations that the generator omitted, with its reasons: it names them by their paths, which are their ids. */
function missingOf({ cases }: BuildContext, warnings: string): Record<string, string> {
  const omitted = warnings.matchAll(
    /parsing [A-Z]+ \/(\w+)\S* within \w+\. Endpoint will not be generated\.\s+(\S[^\n]*)/g,
  )
  const reasons = Object.fromEntries([...omitted].map(([, path = '', reason = '']) => [path, reason]))
  return Object.fromEntries(
    cases.flatMap(({ operation }) => {
      const reason = reasons[operation]
      return reason === undefined ? [] : [[operation, reason]]
    }),
  )
}
