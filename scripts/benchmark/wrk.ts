import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { plantBody } from './acceptance.ts'
import { type HttpFigures, type HttpLoad, requestHead } from './http-load.ts'

export type WrkOptions = {
  port: number
  token: string
  connections: number
  /** The number of ids to cycle through; undefined if each request has a new id. */
  ids: number | undefined
}

/** Returns the name and the version of wrk, such as "wrk 4.1.0", or undefined if it is not installed. */
export function wrkVersion(): string | undefined {
  const { stdout } = spawnSync('wrk', ['--version'], { encoding: 'utf8' })
  return /^wrk \S+/.exec(stdout ?? '')?.[0]
}

/** Creates plants with wrk, in a new process for each measurement. Checks the status of each response, not its body. */
export function openWrk({ port, token, connections, ids }: WrkOptions): HttpLoad {
  let first = 1
  return {
    async measure(seconds) {
      const directory = await mkdtemp(join(tmpdir(), 'plant-store-wrk-'))
      try {
        const script = join(directory, 'create-plants.lua')
        await writeFile(script, luaScript(requestHead(port, token), first, ids), { mode: 0o600 })
        const duration = `${Math.ceil(seconds)}s`
        const load = ['--threads', '1', '--connections', String(connections), '--duration', duration]
        const { stdout } = await promisify(execFile)('wrk', [...load, '--script', script, `http://127.0.0.1:${port}`])
        const figures = parseWrk(stdout)
        // Skips the ids of requests that were in flight at the end, too.
        first += figures.answers + figures.errors + 2 * connections
        return figures
      } finally {
        await rm(directory, { recursive: true })
      }
    },
    close() {},
  }
}

/** Returns a Lua script with which wrk sends the same bytes as `openLoad` and prints its figures. */
export function luaScript(head: string, first: number, ids: number | undefined): string {
  const mark = -1
  const [before, after] = plantBody(mark).split(String(mark)) as [string, string]
  // A JSON string of ASCII characters is a Lua string, too.
  const [luaHead, luaBefore, luaAfter] = [head, before, after].map((text) => JSON.stringify(text))
  return `local id = ${first - 1}
function request()
  id = ${ids === undefined ? 'id + 1' : `(id + 1) % ${ids}`}
  local body = ${luaBefore} .. id .. ${luaAfter}
  return ${luaHead} .. #body .. "\\r\\n\\r\\n" .. body
end
function done(summary, latency)
  local errors = summary.errors
  local lost = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format("figures %d %d %d %d %d %d %d %d\\n", summary.requests, errors.status, lost, summary.duration,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9), latency.max))
end
`
}

/** Parses the line of figures that the script prints, in microseconds. Throws if there is none. */
export function parseWrk(output: string): HttpFigures {
  const [, line] = /^figures ([\d ]+)$/m.exec(output) ?? []
  if (line === undefined) throw new Error(`wrk printed no figures: ${output}`)
  const [requests, refused, lost, duration, ...times] = line.split(' ').map(Number) as [number, number, number, number]
  const [p50, p99, p999, max] = (times as number[]).map((time) => time / 1e3) as [number, number, number, number]
  return { answers: requests - refused, errors: refused + lost, seconds: duration / 1e6, p50, p99, p999, max }
}
