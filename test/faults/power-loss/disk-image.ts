import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Random } from '../seeded-random.ts'
import type { Call } from './strace-log.ts'

/** Number of bytes that a disk writes atomically. */
const sector = 512

type File = { isDirectory: boolean }

/** A call that changed a file or a directory's entries. */
type Change = {
  call: Exclude<Call, { name: 'sync' | 'acknowledge' }>
  file: File
  /** Line of the trace from which the change is durable: the return of a sync that began after the change. */
  safeFrom: number
}

/** Returns the changes below `directory`, which was empty at first, in order. Throws on an unknown file. */
export function changesOf(calls: Call[], directory: string): Change[] {
  const files = new Map<string, File>([[directory, { isDirectory: true }]])
  const unsafe = new Map<File, Change[]>()
  const changes: Change[] = []
  const find = (path: string): File => {
    const file = files.get(path)
    if (file === undefined) throw new Error(`the trace has no call that creates ${path}`)
    return file
  }
  for (const call of calls) {
    if (call.name === 'acknowledge') continue
    if (call.name === 'sync') {
      const waiting = unsafe.get(find(call.path)) ?? []
      for (const change of waiting) if (change.call.end < call.start) change.safeFrom = call.end
      const isUnsafe = (change: Change) => change.safeFrom > call.end
      unsafe.set(find(call.path), waiting.filter(isUnsafe))
      continue
    }
    if (call.name === 'create' && files.has(call.path)) continue
    if (call.name === 'create' || call.name === 'mkdir') files.set(call.path, { isDirectory: call.name === 'mkdir' })
    const change = { call, file: find(call.path), safeFrom: Number.POSITIVE_INFINITY }
    changes.push(change)
    if (call.name === 'unlink') files.delete(call.path)
    // The name of a file becomes durable with a sync of its directory, not of the file.
    const keeper = call.name === 'write' || call.name === 'truncate' ? change.file : find(dirname(call.path))
    if (!unsafe.has(keeper)) unsafe.set(keeper, [])
    unsafe.get(keeper)?.push(change)
  }
  return changes
}

export type Image = {
  changes: Change[]
  /** Line of the trace at which the power fails. */
  cut: number
  random: Random
  /** The traced directory, and the empty directory for the image. */
  from: string
  to: string
}

/** Writes an image with every durable change; any other change is at random dropped, kept or torn at sectors. */
export function writeImage({ changes, cut, random, from, to }: Image): void {
  const names = new Map<string, File>()
  const contents = new Map<File, Content>()
  for (const { call, file, safeFrom } of changes) {
    if (call.start >= cut) break
    const isSafe = safeFrom < cut
    if (!isSafe && random.below(3) === 0) continue
    const content = contents.get(file) ?? { bytes: Buffer.alloc(0), length: 0 }
    contents.set(file, content)
    if (call.name === 'create' || call.name === 'mkdir') names.set(call.path, file)
    else if (call.name === 'unlink') names.delete(call.path)
    else if (call.name === 'truncate') truncate(content, call.length)
    else if (isSafe || random.below(2) === 0) write(content, call.data, call.offset)
    else for (const part of sectors(call)) if (random.below(2) === 0) write(content, part.data, part.offset)
  }
  for (const [path, file] of names) {
    const target = join(to, relative(from, path))
    if (dirname(path) !== from && !names.has(dirname(path))) continue
    if (file.isDirectory) mkdirSync(target)
    else writeFileSync(target, contents.get(file)?.bytes.subarray(0, contents.get(file)?.length) as Buffer)
  }
}

/** The content of a file; the bytes beyond `length` are zeros. */
type Content = { bytes: Buffer; length: number }

function write(content: Content, data: Buffer, offset: number): void {
  const end = offset + data.length
  if (end > content.bytes.length) {
    const larger = Buffer.alloc(end * 2)
    content.bytes.copy(larger)
    content.bytes = larger
  }
  data.copy(content.bytes, offset)
  content.length = Math.max(content.length, end)
}

function truncate(content: Content, length: number): void {
  content.bytes.fill(0, length)
  content.length = length
}

/** Splits a write at sector boundaries. */
function* sectors({ data, offset }: { data: Buffer; offset: number }) {
  for (let at = offset; at < offset + data.length; at += sector - (at % sector)) {
    const next = at + sector - (at % sector)
    yield { data: data.subarray(at - offset, next - offset), offset: at }
  }
}
