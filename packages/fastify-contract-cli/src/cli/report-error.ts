import { UsageError } from 'fastify-contract/token-command'
import { terminalText } from '../text/source-text.ts'

/**
 * Prints the message of an error, which may quote a document, and sets the exit code: 2 for an invalid command line.
 *
 * @param name What precedes the message, such as the name of one of several documents.
 */
export function reportError(error: Error, name?: string): void {
  const message = isOverflow(error)
    ? 'schemas are nested too deeply; move inner schemas into components'
    : error.message
  process.stderr.write(`${name === undefined ? '' : `${name}: `}${terminalText(message)}\n`)
  process.exitCode = error instanceof UsageError ? 2 : 1
}

/** Returns whether recursion exceeded the stack: only schemas that are inside of each other have no bound of their own. */
const isOverflow = ({ name, message }: Error): boolean =>
  name === 'RangeError' && message === 'Maximum call stack size exceeded'
