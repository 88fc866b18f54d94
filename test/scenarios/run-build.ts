import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Builds the project, so that scenarios run the current code. Rejects when the build fails. */
export async function build(): Promise<void> {
  // stdout carries only the figures of the report, so the build prints to stderr.
  const child = spawn(process.execPath, ['--import=tsx', 'scripts/build.ts'], { stdio: ['ignore', 2, 2] })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the build exited with ${code}`)
}
