import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'

/** The reason to skip tests that need a terminal, which script(1) of util-linux writes; false when it is there. */
export const terminalSkipReason: string | false =
  /util-linux/.test(spawnSync('script', ['--version']).stdout?.toString() ?? '') === false &&
  'NOT RUN: script(1) of util-linux is missing'

/**
 * Returns a wrapper command that runs `command` on a new terminal. With stderr `there`, the command's stderr is the
 * terminal; with `apart`, it is the stderr of the wrapper. The wrapper also writes the lines "pid NUMBER" and, at the
 * end, "ended CODE" to its own stderr.
 */
export function onTerminal(command: string[], stderr: 'apart' | 'there'): string[] {
  const quoted = shellWords(command)
  const inner = `${quoted} ${stderr === 'apart' ? '2>&3' : ''} & echo "pid $!" >&3; wait $!; echo "ended $?" >&3`
  return ['sh', '-c', 'exec 3>&2; exec script -qc "$0" /dev/null', `trap '' HUP; ${inner}`]
}

/** Returns a wrapper command that runs `command` on a new terminal, whose keys are the stdin of the wrapper. */
export const withKeys = (command: string[]): string[] => ['script', '-qec', shellWords(command), '/dev/null']

const shellWords = (command: string[]): string => command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')

/** Creates a pipe until the test ends: `end` is the descriptor to write to, and only calls of `read` empty the pipe. */
export function unreadPipe(t: Test) {
  const path = join(t.testdir({}), 'pipe')
  execFileSync('mkfifo', [path])
  const end = openSync(path, constants.O_RDWR)
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  t.teardown(() => {
    closeSync(end)
    closeSync(reader)
  })
  const buffer = Buffer.alloc(2 ** 20)
  const read = () => {
    try {
      return readSync(reader, buffer)
    } catch {
      // The pipe is empty.
      return 0
    }
  }
  return { end, read }
}

/** Fills a pipe, so that a further write of one byte has to wait for its reader. */
export function fillPipe(end: number): void {
  const writer = openSync(`/proc/self/fd/${end}`, constants.O_WRONLY | constants.O_NONBLOCK)
  for (const bytes of [4_096, 1]) {
    try {
      for (;;) writeSync(writer, Buffer.alloc(bytes))
    } catch {
      // The pipe has no space for that many bytes.
    }
  }
  closeSync(writer)
}
