import { terminalText } from '../text/source-text.ts'

/** Prints the message of an error, which may quote a document, and sets the exit code 1. */
export function reportError({ message }: Error): void {
  process.stderr.write(`${terminalText(message)}\n`)
  process.exitCode = 1
}
