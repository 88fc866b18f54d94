import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export type Run = { code: number; output: string }

/** Runs a tool that a machine may have; gives its exit code and all that it prints, undefined when there is none. */
export async function runTool(name: string, ...args: string[]): Promise<Run | undefined> {
  try {
    const { stdout, stderr } = await promisify(execFile)(name, args)
    return { code: 0, output: stdout + stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number | string; stdout: string; stderr: string }
    return code === 'ENOENT' ? undefined : { code: Number(code), output: stdout + stderr }
  }
}
