import { existsSync, readdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
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
  // Lines that arrive before their question are kept.
  const answers = lines[Symbol.asyncIterator]()
  const ask: Ask = async (question) => {
    lines.setPrompt(question)
    lines.prompt()
    const { value, done } = await answers.next()
    if (!done) return value.trim()
    output.write('\n')
    throw new Error('init: the input ended; nothing is written')
  }
  try {
    const document = await askDocument(ask, output)
    const own = directory ?? (await ask(`Directory of the project (Enter: ${defaultDirectory()}) `))
    return { document, directory: own || defaultDirectory() }
  } finally {
    lines.close()
  }
}

/** Returns the answer to a question. */
type Ask = (question: string) => Promise<string>

async function askDocument(ask: Ask, output: Writable): Promise<string> {
  for (;;) {
    const answer = await ask('OpenAPI document, a path or a URL (Enter: a sample with three operations) ')
    if (answer === '') return sample
    if (isUrl(answer) || existsSync(answer)) return answer
    output.write(`There is no file ${JSON.stringify(answer)}.\n`)
  }
}

/** Returns the current directory if it is empty, so that nothing in it is mixed with a project. */
const defaultDirectory = (): string => (readdirSync('.').length === 0 ? '.' : 'service')
