import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Runs the build command, so that scenarios run the code as it is now. Rejects when the build fails. */
export async function build(): Promise<void> {
  // A report on stdout must hold nothing but its figures.
  const child = spawn(process.execPath, ['--import=tsx', 'scripts/build.ts'], { stdio: ['ignore', 2, 2] })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the build exited with ${code}`)
}
