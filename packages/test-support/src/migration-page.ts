import { readFileSync } from 'node:fs'
import { freePort } from './free-port.ts'
import { until } from './poll.ts'

/** A page that shows a program before and after a migration, and what changes for clients. */
export type MigrationPage = {
  /** The texts of the blocks that begin with a comment of their name, by that name. */
  files: Record<string, string>
  /** The versions of packages, such as `express@5.3.0`, with which the page was tested. */
  packages: string[]
  /** What the page says about the number of lines of its files, and the true number. */
  lineCounts: { name: string; told: number; counted: number }[]
  rows: Row[]
  /** What its programs print; empty if the page does not show it. */
  output: string
}

/** A request, and its response from each of the programs in the order of the columns. */
export type Row = { request: string; responses: string[] }

/** Reads a page in Markdown. */
export function readMigrationPage(path: string): MigrationPage {
  const text = readFileSync(path, 'utf8')
  const blocks = text.matchAll(/^```\w+\n\/\/ (\S+)\n(.*?)^```$/gms)
  const files = Object.fromEntries(Array.from(blocks, ([, name = '', code = '']) => [name, code]))
  const counts = text.matchAll(/`(\S+\.ts)`\s+has\s+(\d+)\s+lines/g)
  return {
    files,
    packages: Array.from(text.matchAll(/`((?:@[\w-]+\/)?[\w-]+@\d+\.\d+\.\d+)`/g), ([, name = '']) => name),
    lineCounts: Array.from(counts, ([, name = '', told]) => ({
      name,
      told: Number(told),
      counted: (files[name] ?? '').split('\n').filter((line) => line.trim() !== '').length,
    })),
    rows: Array.from(
      text.matchAll(/^\| (`(?:GET|PUT|POST|DELETE) \/.*?) \| (.*) \|$/gm),
      ([, request = '', cells = '']) => ({
        request,
        responses: written(cells.split(' | ')),
      }),
    ),
    output: /^```text\n(.*?)^```$/ms.exec(text)?.[1] ?? '',
  }
}

/** Returns the responses of a row, where "same" stands for the response of the column before. */
function written(cells: string[]): string[] {
  const responses: string[] = []
  for (const cell of cells) responses.push(cell === 'same' ? (responses.at(-1) ?? '') : cell)
  return responses
}

/** A token that the programs of the pages accept from the variable ACCESS_TOKEN. */
export const pageToken = 'a-token-of-the-pages-0123456789-abcdef'

/** Returns the environment of a program of a page, and its URL. */
export async function programEnvironment() {
  const port = String(await freePort())
  return { environment: { PORT: port, ACCESS_TOKEN: pageToken }, url: `http://127.0.0.1:${port}` }
}

/** Resolves when a program responds to GET /health. Rejects when `hasEnded` returns true, or at a deadline. */
export async function untilHealthy(url: string, hasEnded: () => boolean, output: () => string): Promise<void> {
  await until(isHealthy, () => `a response of the program: ${output()}`)

  async function isHealthy(): Promise<boolean> {
    if (hasEnded()) throw new Error(`the program ended: ${output()}`)
    const response = await fetch(`${url}/health`).catch(() => undefined)
    return (await response?.text().catch(() => '')) === '{"ok":true}'
  }
}

/** Sends the request of a row, and returns its response as a table writes it. Throws for a row of another form. */
export async function respond(url: string, row: string): Promise<string> {
  const [, method = '', path = '', file, body, type = 'application/json', lacksToken] =
    /^`([A-Z]+) (\S+)`(?: with (the file )?`([^`]*)`(?: as (\S+?))?)?(, without a token)?$/.exec(row) ?? []
  if (method === '') throw new Error(`${row}: no request; see readMigrationPage`)
  const form = new FormData()
  form.set('photo', new Blob([body ?? '']), 'photo.png')
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(lacksToken === undefined && { authorization: `Bearer ${pageToken}` }),
      ...(body !== undefined && file === undefined && { 'content-type': type }),
    },
    ...(body !== undefined && { body: file === undefined ? body : form }),
  })
  const text = await response.text()
  return text === '' ? String(response.status) : `${response.status} \`${text}\``
}

/** Returns whether a response is the written one, where "…" stands for any text. */
export const isAsWritten = (response: string, cell: string): boolean =>
  new RegExp(`^${cell.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*')}$`, 's').test(response)
