import { readFile } from 'node:fs/promises'
import { dirname, join as joinPaths, relative } from 'node:path'
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import { join, keysOf, resolve } from '../compile/document/json-pointer.ts'
import { targetOf } from './merge-parts.ts'

type Place = { file: string; node: Node }

/**
 * Returns a function that finds the location, FILE:LINE:COLUMN, of a pointer of a bundled document in its source files.
 * If the sources have nothing at the pointer, it is the location of the closest ancestor.
 */
export async function sourcePlaces(bundled: object, path: string): Promise<(pointer: string) => string> {
  const files = new Map<string, { root: Node; lines: LineCounter }>()
  /** The source locations of bundled pointers that are not at the same pointer of the first file. */
  const elsewhere = new Map<string, Place>()

  async function open(file: string, pointer = '#'): Promise<Place> {
    if (!files.has(file)) {
      const lines = new LineCounter()
      const { contents } = parseDocument(await readFile(file, 'utf8'), { lineCounter: lines })
      files.set(file, { root: contents as Node, lines })
    }
    const { root } = files.get(file) as { root: Node }
    return { file, node: keysOf(pointer).reduce((node, key) => childOf(node, key) ?? node, root) }
  }

  async function follow({ file, node }: Place, pointer: string): Promise<void> {
    const $ref = scalarAt(node, '$ref')
    const [other = '', fragment = ''] = $ref?.split('#') ?? []
    // A reference within the first file has the same pointer in the bundled document.
    if ($ref !== undefined && !isUrl.test(other) && (other !== '' || file !== path)) {
      const bundledRef = (resolve(bundled, pointer) as { $ref?: string } | undefined)?.$ref
      const target = bundledRef === undefined ? pointer : targetOf(bundledRef)
      if (elsewhere.has(target)) return
      const place = await open(other === '' ? file : joinPaths(dirname(file), other), `#${fragment}`)
      elsewhere.set(target, place)
      return follow(place, target)
    }
    for (const key of keysIn(node)) await follow({ file, node: childOf(node, key) as Node }, join(pointer, key))
  }

  const first = await open(path)
  await follow(first, '#')
  return (pointer) => {
    const keys = keysOf(pointer)
    const pointers = keys.map((_, index) => join('#', ...keys.slice(0, keys.length - index)))
    const above = pointers.findIndex((each) => elsewhere.has(each))
    let { file, node } = elsewhere.get(pointers[above] as string) ?? first
    for (const key of above === -1 ? keys : keys.slice(keys.length - above)) {
      const child = childOf(node, key)
      if (child === undefined) break
      node = child
    }
    const { lines } = files.get(file) as { lines: LineCounter }
    const { line, col } = lines.linePos(node.range?.[0] ?? 0)
    return `${relative('', file)}:${line}:${col}`
  }
}

const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i

/** Returns the keys of a map or sequence as strings, as in a pointer. */
const keysIn = (node: Node): string[] =>
  isMap(node)
    ? node.items.flatMap(({ key, value }) => (isScalar(key) && value !== null ? [String(key.value)] : []))
    : isSeq(node)
      ? node.items.map((_, index) => String(index))
      : []

function childOf(node: Node, key: string): Node | undefined {
  if (isSeq(node)) return node.items[Number(key)] as Node | undefined
  if (!isMap(node)) return undefined
  const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === key)
  return (pair?.value ?? undefined) as Node | undefined
}

function scalarAt(node: Node, key: string): string | undefined {
  const child = childOf(node, key)
  return isScalar(child) && typeof child.value === 'string' ? child.value : undefined
}
