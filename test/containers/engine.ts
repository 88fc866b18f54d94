import { spawnProcess } from 'fastify-contract-test-support/child-process'

/** A program that builds images and runs containers. */
export type Engine = {
  name: 'docker' | 'podman'
  /** Runs one of its commands in a directory, and returns what it prints. Rejects with that if the command fails. */
  run(args: string[], directory?: string): Promise<string>
}

/** Milliseconds for a command: a build downloads packages, and the machine may be slow. */
const limit = 15 * 60_000

/** Returns the first engine that works here. */
export async function findEngine(): Promise<Engine | undefined> {
  for (const name of ['docker', 'podman'] as const) {
    const engine = { name, run: (args: string[], directory?: string) => runCommand([name, ...args], directory) }
    const works = await engine.run(['info']).then(
      () => true,
      () => false,
    )
    if (works) return engine
  }
  return undefined
}

/** Runs a command, and returns what it prints on stdout. Rejects with all its output if it fails. */
export async function runCommand(command: string[], cwd?: string): Promise<string> {
  // npm passes its own settings to the commands that it runs.
  const env = Object.fromEntries(
    Object.keys(process.env).flatMap((name) => (/^npm_/.test(name) ? [[name, undefined]] : [])),
  )
  const { code, stdout, stderr } = await spawnProcess(command, { ...(cwd && { cwd }), env }).untilEnded(limit)
  if (code !== 0) throw new Error(`${command.join(' ')}: exit ${code}: ${stdout}${stderr}`)
  return stdout
}
