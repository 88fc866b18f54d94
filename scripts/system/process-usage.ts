import { readdirSync, readFileSync } from 'node:fs'

/** Returns the CPU time of all threads of a process in seconds, from Linux' counters in 1/100 s (proc(5)). */
export function processorSeconds(pid: number | 'self'): number {
  const fields = statFields(pid)
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Returns the CPU time of all ended child processes of this process and of theirs, in seconds, from the same counters. */
export function childSeconds(): number {
  const fields = statFields('self')
  return (Number(fields[13]) + Number(fields[14])) / 100
}

/** Returns the fields after the name, which may contain spaces. */
const statFields = (pid: number | 'self'): string[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')

/** Returns the resident memory of a process in bytes. */
export const residentBytes = (pid: number): number => statusBytes(pid, 'VmRSS')

/** Returns the peak resident memory of a process in bytes. */
export const peakResidentBytes = (pid: number): number => statusBytes(pid, 'VmHWM')

function statusBytes(pid: number, name: string): number {
  const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1_024
}

/** Returns the number of open file descriptors of a process, including sockets. */
export const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length

/** Returns how often the threads of a process have given up the processor to wait (proc_pid_status(5)). */
export const voluntarySwitches = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    const [, count] = /^voluntary\w+:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8')) ?? []
    return sum + Number(count)
  }, 0)
