import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'

/** Why no test can have a terminal here: it is made by script(1) of util-linux, which Linux systems usually have. */
export const terminalSkipReason: string | false =
  /util-linux/.test(spawnSync('script', ['--version']).stdout?.toString() ?? '') === false &&
  'NOT RUN: there is no script of util-linux'

/**
 * Returns the command that runs another one on a terminal of its own, with stderr there, too, or apart. The command
 * writes the lines "pid NUMBER" and, at the end, "ended CODE" to its own stderr.
 */
export function onTerminal(command: string[], stderr: 'apart' | 'there'): string[] {
  const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  const inner = `${quoted} ${stderr === 'apart' ? '2>&3' : ''} & echo "pid $!" >&3; wait $!; echo "ended $?" >&3`
  return ['sh', '-c', 'exec 3>&2; exec script -qc "$0" /dev/null', `trap '' HUP; ${inner}`]
}

/** Opens a pipe until the test ends: `exitWithError` is the descriptor to write to, and only `read` reads what is there. */
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
      // There is nothing now.
      return 0
    }
  }
  return { end, read }
}
