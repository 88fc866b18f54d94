import { readdirSync, readFileSync } from 'node:fs'

/** Seconds of processor time that a process has used, all its threads together; Linux counts in hundredths (proc(5)). */
export function processorSeconds(pid: number | 'self'): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** A process and those that it has started itself, of which only Linux tells (proc(5)). */
export const withChildren = (pid: number): number[] => [
  pid,
  ...(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? []).map(Number),
]

/** Bytes of resident memory of a process. */
export function residentBytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1_024
}

/** How many files a process has open, its sockets among them. */
export const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length
