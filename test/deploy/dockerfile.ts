import { readFileSync } from 'node:fs'

export type Instruction = { name: string; flags: Record<string, string>; rest: string }
export type Stage = { base: string; name: string | undefined; instructions: Instruction[] }

/** Parses the stages of the Dockerfile with their instructions, without comments, with continued lines joined. */
export function readDockerfile(): Stage[] {
  const lines = readFileSync('Dockerfile', 'utf8')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const stages: Stage[] = []
  for (const line of lines) {
    const [, name = '', flags = '', rest = ''] = /^([A-Z]+)\s+((?:--\S+\s+)*)(.*)$/.exec(line) ?? []
    const [base = '', , stage] = rest.split(/\s+/)
    if (name === 'FROM') stages.push({ base, name: stage, instructions: [] })
    else stages.at(-1)?.instructions.push({ name, flags: readFlags(flags), rest })
  }
  return stages
}

const readFlags = (text: string): Record<string, string> =>
  Object.fromEntries(Array.from(text.matchAll(/--([\w-]+)=(\S+)/g), ([, name = '', value = '']) => [name, value]))

/** Returns the arguments of each instruction with this name. */
export const of = ({ instructions }: Stage, wanted: string): string[] =>
  instructions.filter(({ name }) => name === wanted).map(({ rest }) => rest)

/** Returns the environment variables that a stage sets. */
export const environmentOf = (stage: Stage): Record<string, string> =>
  Object.fromEntries(
    of(stage, 'ENV').flatMap((rest) => rest.split(/\s+/).map((pair) => pair.split('=') as [string, string])),
  )
