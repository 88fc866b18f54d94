import { makeNonBlocking } from './nonblocking-terminal.ts'

/** Prevents a blocked or closed stderr from stopping the process. */
export function prepareStderr(): void {
  process.stderr.on('error', () => {})
  makeNonBlocking(process.stderr)
}
