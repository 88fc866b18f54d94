import type { Refused } from '../reports/reports.ts'

/** A place in a text; both numbers begin at 1. `name` is the name of its file if that is another one than expected. */
export type Place = { line: number; col: number; name?: string }

/** A file that cannot be read; its message is one line that names the file. */
export class SourceError extends Error {
  override readonly name: string = 'SourceError'
  readonly kind: Refused = 'unreadable-text'
}

/** An overlay that cannot be applied. */
export class OverlayError extends SourceError {
  override readonly kind = 'invalid-overlay'
}

/** A document that exceeds a limit. */
export class LimitError extends SourceError {
  override readonly kind = 'exceeded-limit'
}

/** Returns the text of a place, FILE:LINE:COLUMN. */
export const placeText = (file: string, { line, col, name = file }: Place): string => `${name}:${line}:${col}`

export const tooDeep = (name: string) => new SourceError(`${name}: values are nested too deeply; flatten them`)

/** Returns what `parse` returns. Throws a SourceError if it overflows the stack. */
export function withinStack<Result>(name: string, parse: () => Result): Result {
  try {
    return parse()
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(name)
    throw error
  }
}

/** The greatest number of values of a file after each alias of YAML is replaced by what it stands for. */
export const valuesLimit = 5_000_000

/** Rejects a file whose aliases stand for too many values. */
export function rejectAliases(name: string): never {
  throw new SourceError(`${name}: its aliases stand for more than ${valuesLimit} values; write fewer`)
}
