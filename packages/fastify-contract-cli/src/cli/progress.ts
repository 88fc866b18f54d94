import { lineText } from '../text/source-text.ts'

/** Shows what a command does at the moment. */
export type Step = (text: string) => void

/** The time in milliseconds after which a command shows what it does. */
const progressDelay = 1_000

/** A terminal, or any other stream. */
type Output = Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns'>

/**
 * Runs a function that says what it does, in one line of a terminal that each step replaces and that is empty at the end.
 * The line appears only after a second. What is printed meanwhile by `console` has its own lines. Writes nothing to a
 * stream that is no terminal.
 */
export async function withProgress<Result>(
  run: (step: Step) => Promise<Result>,
  stream: Output = process.stderr,
  clock: () => number = performance.now.bind(performance),
): Promise<Result> {
  // Without cursor movement, a line cannot be replaced.
  if (stream.isTTY !== true || process.env.TERM === 'dumb') return await run(() => {})
  const begin = clock()
  let shown = ''
  let current = ''
  // A step that blocks the event loop is shown by the one before, since no timer fires.
  const timer = setTimeout(show, progressDelay)
  try {
    return await run(function showStep(text) {
      current = lineText(text)
      if (clock() - begin >= progressDelay) show()
    })
  } finally {
    clearTimeout(timer)
    current = ''
    if (shown !== '') show()
  }

  function show(): void {
    shown = current
    stream.write(`\r\x1b[2K${shortened(current, (stream.columns || 80) - 1)}`)
  }
}

/** Returns a text of at most `width` characters, without its middle: the end of a path tells more than its beginning. */
export function shortened(text: string, width: number): string {
  if (text.length <= width) return text
  const [first = ''] = /^\S+ /.exec(text) ?? []
  const begin = first.length < width / 2 ? first : ''
  return `${begin}…${text.slice(text.length - Math.max(0, width - begin.length - 1))}`.slice(0, Math.max(0, width))
}

/** Returns a step for each file that is fetched. */
export const fetchingStep =
  (step: Step) =>
  (url: string, count: number): void =>
    step(count === 1 ? `fetching ${url}` : `fetching file ${count}: ${url}`)
