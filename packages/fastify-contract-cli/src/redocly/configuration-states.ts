import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type FileStates, fileState, noFile } from '../digests/file-state.ts'
import { moduleStates } from '../digests/module-states.ts'
import { parseSource } from '../read/read-source.ts'
import { configurations } from './redocly.ts'

/** The number of configurations that one may extend, directly or not. */
const maxExtended = 100

/**
 * Returns the states of the files that Redocly reads for a configuration, by default that of the directory: each file that
 * a text of it names, what it extends, and its plugins with what they import. Returns undefined if these do not tell what
 * the configuration does: it extends a URL, or a plugin reads other files.
 */
export async function configurationStates(rules: string | undefined): Promise<FileStates | undefined> {
  const states: FileStates = new Map()
  const names = rules === undefined ? configurations : [rules]
  const chosen = names.find((name) => existsSync(name))
  for (const name of names.slice(0, chosen === undefined ? names.length : names.indexOf(chosen) + 1))
    states.set(resolve(name), fileState(name))
  if (chosen === undefined) return states
  const waiting = [resolve(chosen)]
  // Iteration over an array includes the elements that are added meanwhile.
  for (const path of waiting) {
    if (waiting.length > maxExtended) return undefined
    const { extended, plugins, others } = namesIn(path)
    if (extended.some((name) => /^https?:/i.test(name))) return undefined
    // A plugin is a file, or else a package.
    const files = plugins.map((name) =>
      existsSync(resolve(dirname(path), name)) ? resolve(dirname(path), name) : name,
    )
    const loaded = plugins.length === 0 ? new Map() : await moduleStates(files, dirname(path))
    if (loaded === undefined) return undefined
    for (const [module, state] of loaded) states.set(module, state)
    for (const name of [...extended, ...plugins, ...others]) {
      // Some paths are relative to the configuration, others to the working directory.
      for (const file of new Set([resolve(dirname(path), name), resolve(name)])) {
        const state = fileState(file)
        const isExtended = state !== noFile && extended.includes(name) && !waiting.includes(file)
        if (isExtended) waiting.push(file)
        states.set(file, state)
      }
    }
  }
  return states
}

/** The texts of a configuration that may name files, by what they name. */
type Names = { extended: string[]; plugins: string[]; others: string[] }

function namesIn(path: string): Names {
  const names: Names = { extended: [], plugins: [], others: [] }
  collect(parseSource(path, readFileSync(path, 'utf8'), path).value, 'others')
  return names

  function collect(value: unknown, kind: keyof Names): void {
    if (typeof value === 'string') names[kind].push(value)
    if (typeof value !== 'object' || value === null) return
    for (const [key, member] of Object.entries(value)) collect(member, kindOf(key) ?? kind)
  }
}

const kindOf = (key: string): keyof Names | undefined => {
  if (key === 'extends' || key === '$ref') return 'extended'
  if (key === 'plugins') return 'plugins'
  return /^\d+$/.test(key) ? undefined : 'others'
}
