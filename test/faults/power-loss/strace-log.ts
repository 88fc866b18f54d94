import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'

/**
 * System calls for strace to record: all that change or sync a file or a directory. A question mark marks calls that
 * some architectures lack.
 */
export const traced = [
  ...['?open', '?creat', 'openat', '?mkdir', 'mkdirat', '?unlink', 'unlinkat', '?rename', '?renameat', 'renameat2'],
  ...['write', 'writev', 'pwrite64', 'pwritev', 'truncate', 'ftruncate', 'fallocate', 'fsync', 'fdatasync'],
].join(',')

/** A successful call. `start` and `end` are the lines of the trace at which it began and returned. */
export type Call = { start: number; end: number } & (
  | { name: 'create'; path: string }
  | { name: 'mkdir'; path: string }
  | { name: 'unlink'; path: string }
  | { name: 'sync'; path: string }
  | { name: 'write'; path: string; offset: number; data: Buffer }
  | { name: 'truncate'; path: string; length: number }
  | { name: 'acknowledge'; id: bigint }
)

/**
 * Parses a trace of strace -f -y -xx, with all threads in one file, of a process whose working directory is
 * `directory`. Returns the calls below it, and an `acknowledge` for each id written to stdout, ordered by start. Throws
 * on an unknown call, because an image that ignored it would prove nothing.
 */
export async function readTrace(file: string, directory: string): Promise<Call[]> {
  const calls: Call[] = []
  const unfinished = new Map<string, { text: string; start: number }>()
  let line = 0
  for await (const text of createInterface({ input: createReadStream(file) })) {
    line++
    const [, thread = '', rest = ''] = /^(\d+) +(.*)$/.exec(text) ?? []
    if (rest.endsWith(' <unfinished ...>')) {
      unfinished.set(thread, { text: rest.slice(0, -' <unfinished ...>'.length), start: line })
      continue
    }
    const [resumed] = /^<\.\.\. \w+ resumed>/.exec(rest) ?? []
    const begun = resumed === undefined ? undefined : unfinished.get(thread)
    const whole = begun === undefined ? rest : begun.text + rest.slice((resumed as string).length)
    const call = readCall(whole, directory)
    if (call !== undefined) calls.push({ ...call, start: begun?.start ?? line, end: line } as Call)
  }
  return calls.sort((a, b) => a.start - b.start)
}

function readCall(text: string, directory: string) {
  const [, name = '', list = '', result] = /^(\w+)\((.*)\) += (\d+)/.exec(text) ?? []
  if (result === undefined) return undefined
  const values = list.split(', ')
  const kind = name.replace(/at2?$/, '')
  const path = pathOf(values[kind === name ? 0 : 1] as string, directory)
  if (name === 'write' && values[0]?.startsWith('1<')) {
    const id = bytesOf(values[1]).toString()
    return /^-?\d+\n$/.test(id) ? { name: 'acknowledge', id: BigInt(id) } : undefined
  }
  if (!path.startsWith(`${directory}/`) && !(path === directory && name.endsWith('sync'))) return undefined
  if (kind === 'open' && !list.includes('O_CREAT')) return undefined
  if (kind === 'open' && !list.includes('O_TRUNC')) return { name: 'create', path }
  if (kind === 'mkdir' || kind === 'unlink') return { name: kind, path }
  if (kind === 'fsync' || kind === 'fdatasync') return { name: 'sync', path }
  if (kind === 'ftruncate') return { name: 'truncate', path, length: Number(values[1]) }
  if (kind !== 'pwrite64') throw new Error(`unknown call in the trace: ${text.slice(0, 200)}`)
  return { name: 'write', path, offset: Number(values[3]), data: bytesOf(values[1]).subarray(0, Number(result)) }
}

/** Returns the path in an argument, which is either a path or a descriptor followed by its path. */
function pathOf(argument: string, directory: string): string {
  const [, before, path] = /^([^"<]*)["<]([^">]*)/.exec(argument) ?? []
  const text = bytesOf(path).toString()
  return before === '' ? resolve(directory, text) : text
}

const bytesOf = (text = ''): Buffer => Buffer.from(text.replaceAll(/\\x|"/g, ''), 'hex')
