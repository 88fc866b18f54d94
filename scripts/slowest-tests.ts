import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// Prints the ten slowest files of the last run of tap, which keeps the output of each file.
const directory = join('.tap', 'test-results')
const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.tap'))
  .map((name) => name.slice(0, -'.tap'.length))
  .filter((name) => existsSync(name))
  .map((name) => {
    const [, time = '0'] = /^# time=([\d.]+)ms$/m.exec(readFileSync(join(directory, `${name}.tap`), 'utf8')) ?? []
    return { name, seconds: Number(time) / 1_000 }
  })
const slowest = files.sort((a, b) => b.seconds - a.seconds).slice(0, 10)
for (const { name, seconds } of slowest) process.stdout.write(`${seconds.toFixed(1).padStart(6)} s  ${name}\n`)
