import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join as joinPaths, relative, resolve } from 'node:path'
import { stringifyJson } from 'fastify-contract/json'
import { join, keysOf } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import type { Node } from '../document/walk-document.ts'
import { mapScalars } from '../document/walk-document.ts'
import { copyFor, type Edits, isUnchanged, newMark, noEdits, withMarks, withoutMarks } from '../read/source-copies.ts'
import type { Sources } from '../read/source-files.ts'
import type { LintFinding, LintLocation } from './redocly.ts'

/** Returns whether Redocly may read the files of a document as they are. */
export const isSame = ({ files, edits }: Sources): boolean =>
  [...files].every(([file, source]) => isUnchanged(edits.get(file) as Edits, '-') && source?.isChanged !== true) &&
  typeof Object([...files.values()][0]?.value).openapi === 'string'

/**
 * Lints the files of a document. Redocly follows whatever looks like a reference, also to another host, and does not find
 * the target of each. So a document is copied if Redocly would read it otherwise than `readSources`: with references to
 * its files, with other names for data that looks like a reference, and with a version that is a string. A document is
 * also copied, as JSON, if Redocly cannot parse it. The result, which must be JSON, names the files of the document.
 *
 * @param run What runs Redocly; `isCopy` tells it that the files have no places of the document.
 */
export async function onFiles<Result>(
  sources: Sources,
  run: (path: string, isCopy: boolean) => Promise<Result>,
): Promise<Result> {
  const files = [...sources.files]
  if (isSame(sources)) {
    try {
      return await run(sources.path, false)
    } catch (error) {
      if (!/^Failed to parse /m.test((error as Error).message)) throw error
    }
  }
  const mark = newMark()
  const [root = ''] = sources.files.keys()
  return await inDirectory(async function runOnCopies(directory) {
    // The copy keeps the depth of each file, so that references above the directory of the document lead to files.
    const copyOf = (file: string) => joinPaths(directory, file)
    for (const [file, source] of files) {
      const copy = copyOf(file)
      await mkdir(dirname(copy), { recursive: true })
      if (source === undefined) {
        await copyFile(file, copy)
        continue
      }
      const copied = copyFor(source.value, sources.edits.get(file) as Edits, mark)
      await writeFile(copy, String(stringifyJson(file === root ? withVersion(copied as Node) : copied)))
    }
    const result = withoutMarks(JSON.stringify(await run(copyOf(root), true)), mark)
    const own = relative('.', joinPaths(directory, resolve('.')))
    return JSON.parse(result.replaceAll(`${own}/`, '').replaceAll(relative('.', directory), relative('.', '/')))
  })
}

/** Returns what Redocly's bundler makes of a bundled document, in which it finds no reference without a target. */
export async function onDocument(document: Document, run: (path: string) => Promise<Document>): Promise<Document> {
  const doubles = new StandIns()
  const text = await inDirectory((directory) =>
    withMarks([mapScalars(document, doubles.of) as Document], async ([marked]) => {
      const path = joinPaths(directory, 'openapi.json')
      await writeFile(path, JSON.stringify(withVersion(marked as Node)))
      return JSON.stringify(await run(path))
    }),
  )
  const result = mapScalars(JSON.parse(text), doubles.integer) as Document
  return result.openapi === withVersion(document).openapi ? { ...result, openapi: document.openapi } : result
}

/** Doubles that stand for the bigints of a document, each for one: Redocly would round the digits. */
class StandIns {
  readonly #integers = new Map<number, bigint>()
  readonly #doubles = new Map<bigint, number>()

  /** Returns the double of a bigint, or any other value as it is. */
  readonly of = (value: unknown): unknown => {
    if (typeof value !== 'bigint') return value
    let double = this.#doubles.get(value) ?? Number(value)
    while ((this.#integers.get(double) ?? value) !== value) double *= 1 + Number.EPSILON
    this.#integers.set(double, value)
    this.#doubles.set(value, double)
    return double
  }

  /** Returns the bigint of a double, or any other value as it is. */
  readonly integer = (value: unknown): unknown => this.#integers.get(value as number) ?? value
}

/** Returns what Redocly makes of a document with the digits of those integers that share their double with no other. */
export function withDigits(result: Document, document: Document): Document {
  const integers = new Map<unknown, Set<bigint>>()
  mapScalars(document, function collectInteger(value) {
    if (typeof value === 'bigint')
      integers.set(Number(value), (integers.get(Number(value)) ?? new Set<bigint>()).add(value))
    return value
  })
  const integerOf = (value: unknown) => {
    const [integer, ...others] = integers.get(value) ?? []
    return integer === undefined || others.length > 0 ? value : integer
  }
  return mapScalars(result, integerOf) as Document
}

async function inDirectory<Result>(run: (directory: string) => Promise<Result>): Promise<Result> {
  const directory = await mkdtemp(joinPaths(tmpdir(), 'openapi-'))
  try {
    return await run(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}

/** Returns a document with a version that Redocly knows: without one, it reports nothing but that. */
function withVersion<Given extends { openapi?: unknown; swagger?: unknown }>(document: Given): Given {
  const { openapi, swagger } = document
  if (typeof openapi === 'string' || swagger !== undefined) return document
  return { ...document, openapi: typeof openapi === 'number' && openapi < 3.1 ? '3.0.3' : '3.1.0' }
}

/** Returns the findings of the linter in copies, with their places in the files of the document. */
export function withPlaces(findings: LintFinding[], sources: Sources): LintFinding[] {
  const placed = (location: LintLocation): LintLocation => {
    const { source, pointer = '#', reportOnKey } = location
    const file = sources.files.get(resolve(source.ref))
    if (file === undefined) return location
    const { name = source.ref, ...start } = file.placeOf(keysOf(pointer), reportOnKey)
    return { ...location, source: { ...source, ref: name }, start }
  }
  return findings
    .filter((finding) => !isOfMark(finding, sources))
    .map(({ from, ...finding }) => ({
      ...finding,
      location: finding.location.map(placed),
      ...(from !== undefined && { from: placed(from) }),
    }))
}

/**
 * Returns whether a finding is about data that has other names in the copy, so that an example may seem to lack a member,
 * and an extension to have a wrong value.
 */
function isOfMark({ ruleId, location: [at] }: LintFinding, sources: Sources): boolean {
  if (at?.pointer === undefined) return false
  const { source, pointer } = at
  const { data } = sources.edits.get(resolve(source.ref)) ?? noEdits()
  const place = join('#', ...keysOf(pointer))
  return [...data].some(function isNear(member) {
    const holder = member.slice(0, member.lastIndexOf('/'))
    return place === holder || place === member || (ruleId.includes('example') && holder.startsWith(`${place}/`))
  })
}
