import { stripVTControlCharacters } from 'node:util'
import { commandLine } from './command-line.ts'

/** Runs `fastify-contract typecheck`. */
export async function run(args: string[]): Promise<void> {
  const { options } = commandLine(
    `fastify-contract typecheck [OPTIONS]

Checks the types of a project with its TypeScript, and prints the messages in the words of fastify-contract dev: they
begin with the cause, name the handler, and are the same for TypeScript 5.9, 6 and 7. Exits with 1 if there are any. For
the messages of the compiler as they are, run tsc.

--project FILE   the configuration of TypeScript (default: tsconfig.json)
`,
    { project: 'tsconfig.json' },
    [],
    args,
  )
  const { compilerMessages } = await import('../typescript/type-checker.ts')
  const messages = await compilerMessages('--project', options.project, '--noEmit')
  if (messages === undefined) return
  console.log(process.stdout.isTTY ? messages : stripVTControlCharacters(messages))
  process.exitCode = 1
}
