import { neverWait } from '../observability/terminal.ts'

/** Keeps stderr from stopping or ending the process: what cannot be told there is no reason for either. */
export function prepareStderr(): void {
  process.stderr.on('error', () => {})
  neverWait(process.stderr)
}
