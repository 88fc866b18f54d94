import { existsSync, readdirSync } from 'node:fs'
import { createInterface, type Interface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import { isUrl } from '../fetch/url-rules.ts'
import { sample } from './named-document.ts'

/** The document and the directory of a new project. */
export type Choice = { document: string; directory: string }

/** Returns whether a person can be asked. */
export const canAsk = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true

/**
 * Asks for the document of a new project and its directory. Rejects if the input ends.
 *
 * @param directory The directory if it is named already.
 */
export async function askChoice(
  directory: string | undefined,
  input: Readable = process.stdin,
  output: Writable = process.stderr,
): Promise<Choice> {
  const lines = createInterface({ input, output, terminal: 'isTTY' in output })
  const ended = new AbortController()
  lines.on('close', () => ended.abort())
  try {
    const document = await askDocument(lines, output, ended.signal)
    const own = directory ?? (await lines.question(`Directory of the project (Enter: ${defaultDirectory()}) `, ended))
    return { document, directory: own.trim() || defaultDirectory() }
  } catch (error) {
    if (!ended.signal.aborted) throw error
    output.write('\n')
    throw new Error('init: the input ended; nothing is written')
  } finally {
    lines.close()
  }
}

async function askDocument(lines: Interface, output: Writable, signal: AbortSignal): Promise<string> {
  for (;;) {
    const question = 'OpenAPI document, a path or a URL (Enter: a sample with three operations) '
    const answer = (await lines.question(question, { signal })).trim()
    if (answer === '') return sample
    if (isUrl(answer) || existsSync(answer)) return answer
    output.write(`There is no file ${JSON.stringify(answer)}.\n`)
  }
}

/** Returns the current directory if it is empty, so that nothing in it is mixed with a project. */
const defaultDirectory = (): string => (readdirSync('.').length === 0 ? '.' : 'service')
