import { spawn } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import { freePort } from 'fastify-contract-test-support/free-port'
import { until } from 'fastify-contract-test-support/poll'
import type { Test } from 'tap'
import { cachedBundle } from '../support/bundle-cache.ts'
import { copyProject } from '../support/project-copy.ts'
import { type ExampleCommand, exampleCommands, outputPattern } from './example-commands.ts'

/** The ports of the service, the issuer and the page in the examples. Free ports replace them. */
const ports = /\b(3000|4000|5000)\b/g

type ExampleOptions = {
  /** Whether the example changes the source, so that the copy must build. */
  changesService?: boolean
}

/** Copies the bundle of the tests into a copy of the project, and makes its build script do nothing. */
function useBundle(directory: string, bundle: string): void {
  cpSync(join(bundle, 'dist'), join(directory, 'dist'), { recursive: true })
  const path = join(directory, 'package.json')
  const { scripts, ...manifest } = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify({ ...manifest, scripts: { ...scripts, build: 'true' } }))
}

/**
 * Runs the commands of an example in a copy of the project, in one shell, and compares the output of each. Returns
 * the outputs of the commands that do not run in the background, and a function that replaces the ports in a text.
 */
export async function runExample(t: Test, name: string, { changesService = false }: ExampleOptions = {}) {
  const directory = copyProject(t)
  cpSync('examples', join(directory, 'examples'), { recursive: true })
  if (!changesService) useBundle(directory, await cachedBundle())
  const free = new Map<string, string>()
  for (const port of ['3000', '4000', '5000']) free.set(port, String(await freePort()))
  const replacePorts = (text: string) => text.replace(ports, (port) => free.get(port) as string)
  for (const file of readdirSync(join(directory, 'examples'))) {
    const path = join(directory, 'examples', file)
    writeFileSync(path, replacePorts(readFileSync(path, 'utf8')))
  }
  const git = spawn('git', ['init', '--quiet'], { cwd: directory })
  await new Promise((done) => git.once('close', done))
  const env = { PORT: free.get('3000'), MANAGEMENT_PORT: '0' }
  const commands = exampleCommands(join('examples', name)).map(({ command, output, inBackground }) => ({
    command: replacePorts(command),
    output: replacePorts(output),
    inBackground,
  }))
  return { outputs: await runCommands(t, commands, directory, env), replacePorts }
}

/**
 * Runs commands in one shell and compares the output of each. Returns the outputs of the commands that do not run in the
 * background.
 */
export async function runCommands(
  t: Test,
  commands: ExampleCommand[],
  directory: string,
  env: NodeJS.ProcessEnv,
): Promise<string[]> {
  // A process group of its own lets the teardown kill the background commands, too.
  const shell = spawnProcess(['bash'], { cwd: directory, env, detached: true })
  t.teardown(() => shell.signal('SIGKILL'))
  // Background commands get a stdin that stays open, as in a terminal, because esbuild exits when its stdin closes.
  shell.child.stdin?.write('mkfifo input && exec 9<>input\n')
  const outputs: string[] = []
  for (const [index, { command: text, output: expected, inBackground }] of commands.entries()) {
    if (inBackground) {
      const log = join(directory, `background-${index}`)
      shell.child.stdin?.write(`${text} >${log} 2>&1 <&9 &\n`)
      const written = () => (existsSync(log) ? readFileSync(log, 'utf8') : '')
      const isReady = async () => outputPattern(expected).test(written())
      await until(isReady, () => `${expected} of ${text}: ${written()}`)
      t.pass(text)
    } else {
      const end = `end-of-${index}`
      const start = shell.output.stdout.length
      shell.child.stdin?.write(`{ ${text}\n} </dev/null; echo "${end} $?"\n`)
      const [found, code] = await shell.find('stdout', new RegExp(`${end} (\\d+)\\n`))
      const printed = shell.output.stdout.slice(start, shell.output.stdout.indexOf(found)).trim()
      outputs.push(printed)
      t.equal(code, '0', `${text}\n${shell.output.stderr}`)
      t.match(printed, new RegExp(`^${outputPattern(expected).source}$`), text)
    }
  }
  return outputs
}
