import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join as joinPaths } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { join, resolve } from '../compile/json-pointer.ts'
import type { Document } from '../compile/openapi-document.ts'
import { redocly } from '../compile/redocly.ts'
import { type Difference, severityOf } from './change-severity.ts'
import { comparableDocument } from './comparable-document.ts'

/** A difference and its pointer: into the older document if something was removed, or else into the newer one. */
export type LocatedDifference = { difference: Difference; pointer: string }

type Report = Omit<Difference, 'directions' | 'verdicts'> & { verdicts: { ruleId: string; message: string }[] }

/**
 * Returns the differences between two bundled documents, regardless of how their schemas are composed. A difference in
 * a schema that was merged into others occurs once for each of them, with the same pointer.
 */
export async function documentDifferences(older: Document, newer: Document): Promise<LocatedDifference[]> {
  const before = { original: older, ...comparableDocument(older) }
  const after = { original: newer, ...comparableDocument(newer) }
  const reports = await reportsOf(before.document, after.document)
  return reports.flatMap(({ verdicts, ...report }) => {
    const [side, other] = report.revision === undefined ? [before, after] : [after, before]
    const found = pointerOf(report)
    const isNamed = report.kind !== 'modified' && isNamedSchema.test(found)
    // Adding or removing the name of a schema changes nothing by itself: the references to it are compared.
    if (isNamed && side.isReferredTo(found)) return []
    const directions = verdicts
      .filter(({ ruleId }) => ruleId === directionsRule)
      .flatMap(({ message }) => message.split(' '))
    const difference: Difference = {
      ...report,
      directions: directions.filter((direction) => direction !== '') as Difference['directions'],
      verdicts: verdicts.filter(({ ruleId }) => ruleId !== directionsRule),
    }
    // A schema that is only used by being merged into others is compared there.
    const isTaken =
      difference.directions.length === 0 && side.isTaken(found) && severityOf(difference).weight !== 'text'
    if (isTaken) return []
    const origins = side.originsOf(found)
    const isChanged = (origin: string) =>
      !isDeepStrictEqual(resolve(side.original, origin), resolve(other.original, origin))
    // A pointer that does not exist in the original was created from a discriminator.
    const isMade = (origin: string) => resolve(side.original, origin) === undefined
    const pointer = origins.find(isChanged) ?? origins.find(isMade) ?? (origins[0] as string)
    return [{ difference, pointer }]
  })
}

const directionsRule = 'changes/directions'
const isNamedSchema = /^#\/components\/schemas\/[^/]+$/

/** Returns the pointer of a difference. For a removed member, redocly diff reports the pointer of its former parent. */
function pointerOf({ revision, base, property = 'key' }: Pick<Report, 'revision' | 'base' | 'property'>): string {
  const { pointer } = (revision ?? base) as NonNullable<Report['base']>
  const keys = pointer.split('/').slice(1)
  const names = keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  return join('#', ...names, ...(property === 'key' || names.at(-1) === property ? [] : [property]))
}

async function reportsOf(...documents: [Document, Document]): Promise<Report[]> {
  const directory = await mkdtemp(joinPaths(tmpdir(), 'changes-'))
  try {
    const files = ['older.json', 'newer.json'].map((name) => joinPaths(directory, name))
    await Promise.all(files.map((file, index) => writeFile(file, JSON.stringify(documents[index]))))
    const config = joinPaths(import.meta.dirname, 'redocly.yaml')
    return JSON.parse(await redocly('diff', ...files, `--config=${config}`, '--format=json', '--fail-on=none')).changes
  } finally {
    await rm(directory, { recursive: true })
  }
}
