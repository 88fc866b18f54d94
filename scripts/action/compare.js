import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'

/*
 * The first step of action.yaml: compares a document with that of the base, and writes the changes into a file and into
 * the summary of the job. Names of branches and text of documents are arguments of programs or content of files: no shell
 * reads them, and the runner takes no line of the output for a command.
 */

const { DOCUMENT, BASE, FAIL_ON, PACKAGES, RUNNER_TEMP, GITHUB_OUTPUT, GITHUB_STEP_SUMMARY } = process.env
const execute = promisify(execFile)

await compare().catch(({ message }) => {
  console.log(`::error::${message.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')}`)
  process.exitCode = 1
})

async function compare() {
  if (!['none', 'breaking', 'compatible', 'text'].includes(FAIL_ON))
    throw new Error(`fail-on is ${JSON.stringify(FAIL_ON)}; use breaking, compatible, text or none`)
  const directory = await mkdtemp(join(RUNNER_TEMP, 'changes-'))
  const worktree = join(directory, 'base')
  await git('worktree', 'add', '--detach', worktree, await baseCommit())
  try {
    const older = join(worktree, await git('rev-parse', '--show-prefix'), DOCUMENT)
    const { markdown, failed } = existsSync(older)
      ? await changesSince(older)
      : { markdown: '### The base has no such document, so there are no changes\n', failed: false }
    const file = join(directory, 'changes.md')
    await writeFile(file, markdown)
    await appendFile(GITHUB_STEP_SUMMARY, markdown)
    await appendFile(GITHUB_OUTPUT, `failed=${failed}\nmarkdown=${file}\n`)
  } finally {
    await git('worktree', 'remove', '--force', worktree)
    await rm(worktree, { recursive: true, force: true })
  }
}

/**
 * Returns the commit to compare with. GitHub tests the merge of a pull request into its base, of which the first parent is
 * the base as it is in the checked-out files; the event may name an older one.
 */
async function baseCommit() {
  if (BASE !== '') return await presentCommit(BASE)
  const { pull_request: pull } = JSON.parse(await readFile(process.env.GITHUB_EVENT_PATH, 'utf8'))
  if (pull === undefined) throw new Error('the event has no pull request; name what to compare with, as the input base')
  const [head] = (await git('cat-file', '-p', 'HEAD')).split('\n\n', 1)
  const [first, second] = Array.from(head.matchAll(/^parent ([\da-f]+)$/gm), ([, parent]) => parent)
  return await presentCommit(second === undefined ? pull.base.sha : first)
}

/** Returns the commit of a name, which is fetched if the checkout has not fetched it. */
async function presentCommit(name) {
  if (name.startsWith('-')) throw new Error(`base is ${JSON.stringify(name)}; name a branch, a tag or a commit`)
  const find = (revision) => git('rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`)
  const known = await find(name).catch(() => undefined)
  if (known !== undefined) return known
  await git('fetch', '--no-tags', '--depth=1', 'origin', name).catch(({ stderr }) => {
    throw new Error(`git cannot fetch the base; check out with "fetch-depth: 2", or correct the input base: ${stderr}`)
  })
  return await find('FETCH_HEAD')
}

async function git(...args) {
  return (await execute('git', args)).stdout.trim()
}

/** Runs the command `changes`. Its exit code 1 with changes says that one has the severity `FAIL_ON`. */
async function changesSince(older) {
  const [program, ...words] = await command()
  const failOn = FAIL_ON === 'none' ? [] : ['--fail-on', FAIL_ON]
  const args = [...words, 'changes', '--document', DOCUMENT, '--since', older, '--format', 'markdown', ...failOn]
  const child = spawn(program, args, { env: withoutRunnerFiles(process.env), stdio: ['ignore', 'pipe', 'pipe'] })
  const exit = new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))
  const [code, printed, messages] = await Promise.all([exit, text(child.stdout), text(child.stderr)])
  // The runner takes no line between these two for a command, which a text of the document may look like.
  const word = randomUUID()
  console.log(`::stop-commands::${word}\n${messages}\n::${word}::`)
  if (!printed.startsWith('### ')) throw new Error(`fastify-contract changes failed with exit code ${code}`)
  // Places in the base are shown as in the document.
  const base = dirname(older)
  const markdown = printed.replaceAll(`${base}/`, 'before: ').replaceAll(`${relative('.', base)}/`, 'before: ')
  return { markdown, failed: code !== 0 }
}

/** Returns an environment without the files by which a step changes later ones, such as their PATH. */
function withoutRunnerFiles(environment) {
  const { GITHUB_ENV, GITHUB_PATH, GITHUB_OUTPUT, GITHUB_STATE, GITHUB_STEP_SUMMARY, ...others } = environment
  return others
}

/** Returns the command of the installed package, or else one that installs it. */
async function command() {
  for (let directory = process.cwd(); ; directory = dirname(directory)) {
    const manifest = join(directory, 'node_modules', 'fastify-contract-cli', 'package.json')
    if (existsSync(manifest)) {
      const { bin } = JSON.parse(await readFile(manifest, 'utf8'))
      return [process.execPath, join(dirname(manifest), bin['fastify-contract'])]
    }
    if (directory === dirname(directory)) break
  }
  const packages = PACKAGES.split('\n').flatMap((line) => (line.trim() === '' ? [] : [`--package=${line.trim()}`]))
  return ['npx', '--yes', ...packages, '--', 'fastify-contract']
}
