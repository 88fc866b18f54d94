import { spawnSync } from 'node:child_process'

/** Separate cores for server and load; undefined without two cores or without `taskset` of util-linux. */
export const cores = runs('taskset', '-c', '0,1', 'true') ? { server: '0', load: '1' } : undefined

/** Returns a command that runs the given command on the server's core. */
export const onServerCore = (command: string[]): string[] =>
  cores === undefined ? command : ['taskset', '-c', cores.server, ...command]

/** Moves all threads of this process to the load's core. Processes that it starts later run there, too. */
export function moveToLoadCore(): void {
  if (cores !== undefined) runs('taskset', '-a', '-c', '-p', cores.load, String(process.pid))
}

function runs(command: string, ...args: string[]): boolean {
  return spawnSync(command, args).status === 0
}
