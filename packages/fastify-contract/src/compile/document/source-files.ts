import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { decoded } from './json-pointer.ts'

/** Matches a reference to another file, in YAML and in JSON, and captures what precedes its path, and its path. */
export const fileReference = /(["']?\$ref["']?\s*:\s*)(?:"([^"#]+)|'([^'#]+)|([^\s"'#,}{]+))/g

/** Matches the absolute URI that a document gives itself (OpenAPI 3.2 section 4.1.1), and captures it. */
const selfUri = /["']?\$self["']?\s*:\s*["']?(https?:\/\/[^\s"'#,}]+)/

/**
 * Returns the absolute paths of the files that an OpenAPI document consists of: its own, and those that its references
 * lead to. Skips files that do not exist, which the linter reports, and URLs, unless `$self` gives them to files.
 */
export const sourceFiles = async (document: string): Promise<string[]> => [...(await sourceTexts(document)).keys()]

/** Returns whether a document gives itself an absolute URI, by which its references may name its files. */
export const hasSelf = async (document: string): Promise<boolean> => selfUri.test(await readFile(document, 'utf8'))

/** The text of a source file. `isChanged`: a reference has a path instead of a URI. */
export type SourceText = { text: string; isChanged: boolean }

/**
 * Returns the texts of the files of a document by their absolute paths. If the document has a `$self`, a reference to
 * the URI of a file, by that base URI, is replaced by its path.
 */
export async function sourceTexts(document: string): Promise<Map<string, SourceText>> {
  const files = new Set([resolve(document)])
  const texts = new Map<string, SourceText>()
  let self: string | undefined
  // Iteration over a Set includes the elements that are added meanwhile.
  for (const file of files) {
    const given = await readFile(file, 'utf8')
    if (texts.size === 0) self = selfUri.exec(given)?.[1]
    const text = given.replace(fileReference, (reference, _key, ...paths: string[]) => {
      const path = paths.find((each) => each !== undefined) as string
      const target = isUri(path) ? fileOf(path, self, document) : resolve(dirname(file), decoded(path))
      if (target === undefined || !isFile(target)) return reference
      files.add(target)
      return isUri(path) ? reference.replace(path, () => relative(dirname(file), target)) : reference
    })
    texts.set(file, { text, isChanged: text !== given })
  }
  return texts
}

const isUri = (path: string): boolean => /^[a-z][a-z\d+.-]*:/i.test(path)

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true

/** Returns the path of the file with a URI, by the base URI of a document; undefined if it is outside of its directory. */
function fileOf(uri: string, self: string | undefined, document: string): string | undefined {
  if (self === undefined) return undefined
  if (uri === self) return resolve(document)
  const base = new URL('.', self).href
  return uri.startsWith(base) ? resolve(dirname(document), decoded(uri.slice(base.length))) : undefined
}
