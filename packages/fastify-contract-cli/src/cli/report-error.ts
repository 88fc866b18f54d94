import { UsageError } from 'fastify-contract/token-command'
import { terminalText } from '../text/source-text.ts'

/** Prints the message of an error, which may quote a document, and sets the exit code: 2 for an invalid command line. */
export function reportError(error: Error): void {
  const message = isOverflow(error)
    ? 'schemas are nested too deeply; move inner schemas into components'
    : error.message
  process.stderr.write(`${terminalText(message)}\n`)
  process.exitCode = error instanceof UsageError ? 2 : 1
}

/** Returns whether recursion exceeded the stack: only schemas that are inside of each other have no bound of their own. */
const isOverflow = ({ name, message }: Error): boolean =>
  name === 'RangeError' && message === 'Maximum call stack size exceeded'
