import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type RunningProcess, spawnProcess } from 'fastify-contract-test-support/child-process'
import { freePort } from 'fastify-contract-test-support/free-port'
import { until } from 'fastify-contract-test-support/poll'

/** A project with what its commands need. */
export type Project = {
  directory: string
  /** The directory in which to install: that of a workspace, or that of the project. */
  root: string
  manager: 'npm' | 'pnpm'
  /** The arguments of the installation. */
  install: string[]
  env: NodeJS.ProcessEnv
}

/** The deadline of each step in milliseconds: the machine may be slow under load. */
const limit = 300_000

/**
 * Installs a project, then runs each of its commands and changes a handler while `dev` runs. Rejects if a step fails or
 * the installation prints a warning.
 *
 * @returns What `dev` printed about a handler that does not compile.
 */
export async function runProject(project: Project): Promise<string> {
  const { directory, root, manager } = project
  const printed = await run(project, [manager, 'install', ...project.install], root)
  assert.doesNotMatch(printed, /\bwarn|peer|\berr/i, `a warning of the installation: ${printed}`)
  await run(project, [manager, 'run', 'generate'])
  assert.match(await run(project, [manager, 'run', 'generate']), /^up to date$/m)
  assert.equal(await tsc(project), '')
  if (existsSync(join(directory, 'test')))
    assert.match(await run(project, [manager, 'test']), /\bpass [1-9]\d*\n.*\bfail 0\n/s)
  const service = await start(project, 'start')
  await service.answers('Tom')
  await service.stop('SIGINT')
  const dev = await start(project, 'dev')
  try {
    return await changeHandler(project, dev)
  } finally {
    await dev.stop('SIGINT')
  }
}

/** Returns what the compiler of the project prints. */
const tsc = (project: Project): Promise<string> => run(project, [...runner(project), 'tsc'])

const typecheck = (project: Project): Promise<string> =>
  run(project, [...runner(project), 'fastify-contract', 'typecheck'])

const runner = ({ manager }: Project): string[] =>
  manager === 'npm' ? ['npx', '--no-install'] : ['pnpm', '--silent', 'exec']

/** Breaks a handler while `dev` runs and mends it. Returns the messages about it. */
async function changeHandler(project: Project, dev: Started): Promise<string> {
  await dev.answers('Tom')
  const path = join(project.directory, 'src', 'handlers.ts')
  const text = readFileSync(path, 'utf8')
  const before = dev.output.stderr.length
  const broken = text
    .replace(/id: \d+n/, "id: 'x'")
    .replace('status: 204', "status: 299, headers: { 'X-Other': 'a' }")
    .replace(/,?\n? *body: undefined/, '')
  writeFileSync(path, `${broken}\nexport const { unknown } = handlers\n`)
  // The lines of the new service come before those of the compiler.
  const [messages = ''] = await dev.sees(
    /^src\/(?:.*\n)*?(?=dev: the new service runs; correct the types above)/m,
    before,
  )
  const compiled = await tsc(project).catch(({ message }: Error) => message)
  const checked = await typecheck(project).catch(({ message }: Error) => message)
  assert.ok(checked.includes(messages.trim()), `typecheck prints what dev prints: ${checked}`)
  for (const code of messages.matchAll(/error (TS\d+): /g)) assert.match(compiled, new RegExp(code[1] as string))
  writeFileSync(path, text.replace('Tom', 'Tim'))
  await dev.answers('Tim')
  return messages.trim()
}

type Started = RunningProcess & {
  /** Resolves when the operation of the document responds with a name. */
  answers(name: string): Promise<void>
  /** Resolves with the first match in what was printed to stderr from a position on. */
  sees(pattern: RegExp, from: number): Promise<RegExpExecArray>
}

/** Starts a script of a project on free ports. */
async function start({ directory, manager, env }: Project, script: string): Promise<Started> {
  const port = await freePort()
  const started = spawnProcess([manager, 'run', script], {
    cwd: directory,
    detached: true,
    env: { ...env, PORT: String(port), MANAGEMENT_PORT: String(await freePort()) },
  })
  const sees = (pattern: RegExp, from: number) =>
    until(
      () => pattern.exec(started.output.stderr.slice(from)),
      () => `${pattern} in ${started.output.stdout}${started.output.stderr}`,
      limit,
    )
  const url = `http://127.0.0.1:${port}/pets/7`
  async function answers(name: string): Promise<void> {
    const expected = `{"id":9007199254740993,"name":"${name}"}`
    const told = () => `${expected} of ${script}: ${started.output.stdout}${started.output.stderr}`
    await until(hasAnswered, told, limit)

    async function hasAnswered(): Promise<boolean> {
      if (started.child.exitCode !== null) throw new Error(told())
      const response = await fetch(url).catch(() => undefined)
      return (await response?.text().catch(() => undefined)) === expected
    }
  }
  return { ...started, answers, sees }
}

/** Runs a command and returns what it prints. Rejects with that if it fails. */
export async function run(
  { directory, env }: Pick<Project, 'directory' | 'env'>,
  command: string[],
  cwd = directory,
): Promise<string> {
  const { code, signal, stdout, stderr } = await spawnProcess(command, { cwd, env }).untilEnded(limit)
  if (code !== 0) throw new Error(`${command.join(' ')}: exit ${code ?? signal}: ${stdout}${stderr}`)
  return stdout + stderr
}

/** Writes files below a directory. */
export function writeFiles(directory: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(directory, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}
