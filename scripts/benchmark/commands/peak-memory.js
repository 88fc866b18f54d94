/* Imported by each Node process of a measured command. Appends the peak of its resident memory, in KiB, to a file. */
import { appendFileSync, readFileSync } from 'node:fs'

process.once('exit', () => {
  // ru_maxrss would begin with the memory of the process that forked this one.
  const [, peak = '0'] = /^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  appendFileSync(String(process.env.PEAK_MEMORY_FILE), `${peak}\n`)
})
