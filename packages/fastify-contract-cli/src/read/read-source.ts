import { withoutComments } from './json-text.ts'
import type { Place } from './source-error.ts'
import { offsetOf, scalarAt } from './text-values.ts'
import { parseYaml, placeIn, plainValue, rangeIn, textIn } from './yaml-nodes.ts'
import { readYaml } from './yaml-values.ts'

/** A parsed file of a document. */
export type Source = {
  /** Its absolute path, or the URL that the user named. */
  file: string
  text: string
  /** Its value: plain JSON with bigints, as of `parseExactJson`, in which no two places share an object. */
  value: unknown
  /** Whether Redocly's own parser may read it otherwise, because it has merge keys or overlays. */
  isChanged: boolean
  /** Returns the place of the value at some keys, or of its key; of the closest value above it if there is none. */
  placeOf(keys: string[], onKey?: boolean): Place
  /** Returns the text of a scalar as the file writes it, without quotes; undefined if there is none. */
  textAt(keys: string[]): string | undefined
  /** Returns where the value at some keys begins and ends in the given text; undefined if there is none. */
  rangeOf(keys: string[]): [begin: number, end: number] | undefined
}

/**
 * Parses a file as JSON or YAML 1.2, also with the merge keys of YAML 1.1 (https://yaml.org/type/merge.html), over which
 * explicit keys win. Throws a SourceError.
 *
 * @param name The path of the file in messages.
 */
export function parseSource(file: string, given: string, name: string): Source {
  // A carriage return alone ends a line too (YAML 1.2.2 section 5.4), which the parsers do not know.
  const { text, json } = withoutComments(given.replace(/^\uFEFF/, '').replace(/\r(?!\n)/g, '\n'))
  const nodes = once(() => parseYaml(text, name))
  // The YAML parser reads JSON too, and finds the place of a repeated key.
  if (json?.isRepeating) nodes()
  const read = json ?? readYaml(text, name)
  const begins = once(() => lineBegins(text))
  return {
    file,
    text,
    // What one parser does not read, the other one explains, or reads.
    value: read === undefined ? plainValue(nodes(), text, name) : read.value,
    isChanged: json === undefined && text.includes('<<'),
    placeOf(keys, onKey = false) {
      return read ? placeAt(begins(), offsetOf(read.values, keys, onKey)) : placeIn(nodes(), keys, onKey)
    },
    textAt: (keys) => (read === undefined ? textIn(nodes(), keys) : scalarAt(read.values, keys)),
    rangeOf: (keys) => rangeIn(nodes(), keys, given.startsWith('\uFEFF') ? 1 : 0),
  }
}

/** Returns a function that returns what `make` returned when it was called first. */
function once<Made>(make: () => Made): () => Made {
  let made: { value: Made } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Returns the offsets of the first characters of the lines of a text. */
function lineBegins(text: string): number[] {
  const begins = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) begins.push(at + 1)
  return begins
}

/** Returns the place of an offset in a text with these beginnings of lines. */
function placeAt(begins: number[], offset: number): Place {
  let [line, end] = [0, begins.length]
  while (end - line > 1) {
    const middle = (line + end) >> 1
    if ((begins[middle] as number) > offset) end = middle
    else line = middle
  }
  return { line: line + 1, col: offset - (begins[line] as number) + 1 }
}
