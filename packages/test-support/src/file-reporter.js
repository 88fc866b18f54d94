import { Transform } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/**
 * Reporter for tap that prints a line for each test file, and the assertions that fail or are skipped. The reporter that
 * tap uses in a terminal draws its screen again for every assertion: with 35,000 of them that costs minutes of CPU.
 */
export default class FileReporter extends Transform {
  #decoder = new StringDecoder()
  #partialLine = ''
  /** The last line of the diagnostics that are being printed, or the first line of those that may follow. */
  #diagnosticsEnd
  #diagnosticsStart

  _transform(chunk, _encoding, done) {
    const text = typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)
    const lines = (this.#partialLine + text).split('\n')
    this.#partialLine = lines.pop()
    const shown = lines.filter((line) => this.#isShown(line))
    done(null, shown.map((line) => `${line}\n`).join(''))
  }

  _flush(done) {
    done(null, this.#partialLine)
  }

  #isShown(line) {
    if (this.#diagnosticsEnd !== undefined) {
      if (line === this.#diagnosticsEnd) this.#diagnosticsEnd = undefined
      return true
    }
    const isStart = line === this.#diagnosticsStart
    if (isStart) this.#diagnosticsEnd = line.replace('---', '...')
    const [, indent] = /^( *)not ok /.exec(line) ?? []
    this.#diagnosticsStart = indent === undefined ? undefined : `${indent}  ---`
    if (isStart || indent !== undefined || / # (SKIP|TODO)\b/i.test(line)) return true
    return line !== '' && !line.startsWith(' ') && !line.startsWith('# Subtest')
  }
}
