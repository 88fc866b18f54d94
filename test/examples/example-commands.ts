import { readFileSync } from 'node:fs'

/** A command of an example and its expected output, in which `…` stands for any text within a line. */
export type ExampleCommand = { command: string; output: string; inBackground: boolean }

const commentMarks = /^(?:\/\/|#) ?/

/** Returns the commands in the opening comment of an example. */
export const exampleCommands = (path: string): ExampleCommand[] => commandsIn(openingLines(readFileSync(path, 'utf8')))

/**
 * Returns the commands of a text: lines that begin with `$ `, each with the lines that continue it after a backslash,
 * and with the lines up to the next command or empty line as its output.
 */
export function commandsIn(lines: string[]): ExampleCommand[] {
  const commands: ExampleCommand[] = []
  let current: ExampleCommand | undefined
  for (const line of lines) {
    if (line.startsWith('$ ')) {
      current = { command: line.slice(2), output: '', inBackground: false }
      commands.push(current)
    } else if (line === '') {
      current = undefined
    } else if (current?.command.endsWith('\\')) {
      current.command += `\n${line}`
    } else if (current !== undefined) {
      current.output += `${line}\n`
    }
  }
  return commands.map(({ command, output }) => {
    const inBackground = command.endsWith(' &')
    return { command: inBackground ? command.slice(0, -2) : command, output: output.trimEnd(), inBackground }
  })
}

/** Returns the lines of the opening comment without its marks. In a patch, it is the text before the first file. */
function openingLines(text: string): string[] {
  const block = /^(?:<!doctype html>\n)?<!--\n(.*?)^-->/ms.exec(text) ?? /^([A-Z].*?)^diff --git /ms.exec(text)
  if (block !== null) return (block[1] as string).split('\n')
  const lines = text.split('\n')
  const end = lines.findIndex((line) => !commentMarks.test(line))
  return lines.slice(0, end).map((line) => line.replace(commentMarks, ''))
}

/** Returns a pattern for an output in which `…` stands for any text within a line, and as a line for any lines. */
export const outputPattern = (output: string): RegExp =>
  new RegExp(
    output
      .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
      .replace(/^…$/gm, '[^]*')
      .replaceAll('…', '.*'),
  )
