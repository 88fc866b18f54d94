import { lineText } from '../text/source-text.ts'

/** Says what a command does at the moment. */
export type Step = (text: string) => void

/**
 * Runs a function that says what it does, in one line of a terminal that each step replaces and that is empty at the end.
 * Writes nothing to a stream that is no terminal.
 */
export async function withProgress<Result>(
  run: (step: Step) => Promise<Result>,
  stream: NodeJS.WriteStream = process.stderr,
): Promise<Result> {
  // Without cursor movement, a line cannot be replaced.
  if (stream.isTTY !== true || process.env.TERM === 'dumb') return await run(() => {})
  const show = (text: string) => stream.write(`\r\x1b[2K${text.slice(0, Math.max(0, (stream.columns || 80) - 1))}`)
  try {
    return await run((text) => show(lineText(text)))
  } finally {
    show('')
  }
}

/** Returns a step for each file that is fetched. */
export const fetchingStep =
  (step: Step) =>
  (url: string, count: number): void =>
    step(count === 1 ? `fetching ${url}` : `fetching file ${count}: ${url}`)
