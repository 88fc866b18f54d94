import { UsageError } from 'fastify-contract/token-command'
import { terminalText } from '../text/source-text.ts'

/** Prints the message of an error, which may quote a document, and sets the exit code: 2 for an invalid command line. */
export function reportError(error: Error): void {
  process.stderr.write(`${terminalText(error.message)}\n`)
  process.exitCode = error instanceof UsageError ? 2 : 1
}
