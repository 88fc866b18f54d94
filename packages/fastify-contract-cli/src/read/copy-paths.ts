/** The directory of a project in which fetched files are saved. */
const saved = 'openapi'

/** The greatest number of directories of a path, and the greatest length of each name. */
const depthLimit = 16
const nameLimit = 80

/** A fetched file. `extension`: the one that its name gets unless it has a fitting one. */
export type NamedFile = { url: string; extension: '.json' | '.yaml' | '.txt' }

/**
 * Returns the paths at which the files of a document are saved, by URL, with slashes. The directories are those of the
 * URLs, so that relative references stay valid. The document may name any URL, so the paths keep only letters, digits
 * and a few signs of ASCII, and no two paths differ in their case alone.
 *
 * @param files The files, the document first.
 * @param document The path of the document if it is saved already: it stays, and the others keep their places beside it.
 */
export function copyPaths(files: NamedFile[], document?: string): Map<string, string> {
  const natural = files.map(naturalPath)
  const [root = []] = natural
  const { top, base } = document === undefined ? { top: [saved], base: commonStart(natural) } : placeOf(root, document)
  // In the directory of the project, a name such as redocly.yaml or package.json would have an effect.
  if (top.length === 0) top.push(saved)
  const taken = new TakenPaths()
  return new Map(
    files.map(({ url }, index) => {
      const path = natural[index] as string[]
      const isBelow = base.every((name, depth) => path[depth] === name)
      const own = [...top, ...(isBelow ? path.slice(base.length) : path)].join('/')
      return [url, taken.add(index === 0 && document !== undefined ? document : own)]
    }),
  )
}

/** Returns the directory of a project and that of the URLs which correspond to each other, by the path of the document. */
function placeOf(root: string[], document: string): { top: string[]; base: string[] } {
  const top = document.split('/').slice(0, -1)
  const base = root.slice(0, -1)
  while (top.length > 1 && base.length > 0 && top.at(-1) === base.at(-1)) {
    top.pop()
    base.pop()
  }
  return { top, base }
}

/** Returns the names of directories that all paths begin with. */
function commonStart([first = [], ...others]: string[][]): string[] {
  const isCommon = (name: string, depth: number) =>
    others.every((path) => path[depth] === name && depth < path.length - 1)
  const end = first.slice(0, -1).findIndex((name, depth) => !isCommon(name, depth))
  return first.slice(0, end === -1 ? first.length - 1 : end)
}

/** Returns the path of a URL: its host, the directories, and the name of the file. */
function naturalPath({ url, extension }: NamedFile): string[] {
  const { host, pathname } = new URL(url)
  const directories = pathname.split('/').slice(1)
  const last = safeName(directories.pop() ?? '')
  // A text must not become a module, a test or a page of instructions.
  const fitting = extension === '.txt' ? /\.(?:txt|csv|xml)$/i : /\.(?:json|ya?ml)$/i
  const name = last === '' ? 'openapi' : last
  return [
    safeName(host),
    ...directories.slice(-depthLimit).map((each) => safeName(each) || '_'),
    fitting.test(name) ? name : `${name}${extension}`,
  ]
}

/**
 * Names that Windows does not allow (with any extension), those that a project does not commit, and the directory of released
 * documents, which only a release writes.
 */
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)|^(?:node_modules|dist|released)$/i

/** Returns a segment of a URL as the name of a file or directory, which may be empty. */
function safeName(segment: string): string {
  const name = decodedSegment(segment)
    .replace(/[^\w.~@+-]+/g, '-')
    .replace(/^[.~-]+/, '')
    .slice(0, nameLimit)
    .replace(/\.+$/, '')
  return reserved.test(name) ? `_${name}` : name
}

function decodedSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Paths of files, of which none is a directory of another one, whatever case a file system ignores. */
class TakenPaths {
  readonly #files = new Set<string>()
  readonly #directories = new Set<string>()

  /** Adds a path, with a number in its name if it is taken, and returns it. */
  add(path: string): string {
    const [, start = '', extension = ''] = /^(.*?)(\.\w+)?$/.exec(path) as RegExpExecArray
    let free = path
    for (let number = 2; this.#isTaken(free); number++) free = `${start.replaceAll('.', '-')}-${number}${extension}`
    this.#files.add(free.toLowerCase())
    for (const directory of directoriesOf(free)) this.#directories.add(directory)
    return free
  }

  #isTaken(path: string): boolean {
    const own = path.toLowerCase()
    if (this.#files.has(own) || this.#directories.has(own)) return true
    return directoriesOf(path).some((directory) => this.#files.has(directory))
  }
}

/** Returns the directories of a path, in lower case. */
function directoriesOf(path: string): string[] {
  const names = path.toLowerCase().split('/')
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'))
}
