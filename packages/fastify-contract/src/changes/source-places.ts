import { join, keysOf, resolve } from '../compile/document/json-pointer.ts'
import { shownName } from '../compile/read/file-text.ts'
import { placeText, type Source } from '../compile/read/read-source.ts'
import { location } from '../compile/read/reference-targets.ts'
import { readSources } from '../compile/read/source-files.ts'
import { targetOf } from './merge-parts.ts'

type Place = { file: string; pointer: string }

/**
 * Returns a function that finds the location, FILE:LINE:COLUMN, of a pointer of a bundled document in its source files.
 * If the sources have nothing at the pointer, it is the location of the closest ancestor.
 */
export async function sourcePlaces(bundled: object, path: string): Promise<(pointer: string) => string> {
  const { files, targets } = await readSources(path)
  const [root = ''] = files.keys()
  /** The source locations of bundled pointers that are not at the same pointer of the first file. */
  const elsewhere = new Map<string, Place>()

  function follow({ file, pointer: at }: Place, pointer: string): void {
    const target = targets.get(location(file, at))
    // A reference within the first file has the same pointer in the bundled document.
    if (target !== undefined && (file !== root || target.file !== root)) {
      const bundledRef = (resolve(bundled, pointer) as { $ref?: string } | undefined)?.$ref
      const reached = bundledRef === undefined ? pointer : targetOf(bundledRef)
      if (elsewhere.has(reached)) return
      elsewhere.set(reached, target)
      follow(target, reached)
      return
    }
    const value = resolve(files.get(file)?.value as object, at)
    if (typeof value !== 'object' || value === null) return
    for (const key of Object.keys(value)) follow({ file, pointer: join(at, key) }, join(pointer, key))
  }

  follow({ file: root, pointer: '#' }, '#')
  return (pointer) => {
    const keys = keysOf(pointer)
    const pointers = keys.map((_, index) => join('#', ...keys.slice(0, keys.length - index)))
    const above = pointers.findIndex((each) => elsewhere.has(each))
    const from = elsewhere.get(pointers[above] as string) ?? { file: root, pointer: '#' }
    const below = above === -1 ? keys : keys.slice(keys.length - above)
    const { placeOf } = files.get(from.file) as Source
    return placeText(shownName(from.file), placeOf([...keysOf(from.pointer), ...below]))
  }
}
