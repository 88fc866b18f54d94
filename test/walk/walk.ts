import { commandLine } from '../../packages/fastify-contract-cli/src/cli/command-line.ts'
import { table } from '../../scripts/benchmark/report.ts'
import { callService } from './walk-calls.ts'
import { copyProjectTree, type Touched } from './walk-project.ts'
import { steps } from './walk-steps.ts'

const { options } = commandLine(
  `.ci/nightly walk [--without-tests] [--keep]

Makes typical changes of a maintainer in a copy of the project, one after the other: first to the document, then where
the compiler reports errors. After each change it generates and compiles the copy, runs the tests of touched files, and
calls the service on two stores. At the end it runs all tests but those of the pages, unless --without-tests is given.
Prints files, lines and seconds for each change. Exits with 1 at the first failure. The copy is a Git repository with
one commit for each change; it is kept after a failure, and with --keep. To update a patch that no longer matches the
source, apply it there with "git apply --reject", complete the change by hand, and replace the patch with the output of
"git diff -U1" without generated/.
`,
  { 'without-tests': false, keep: false },
)
const rows = [['step', 'files', 'lines', 'seconds']]
const project = await copyProjectTree()
try {
  for (const { name, change, tests, calls } of steps) {
    await timed(name, async () => {
      await change(project)
      await project.node('packages/fastify-contract-cli/src/cli.ts', 'generate')
      await project.node('packages/fastify-contract-cli/src/cli.ts', 'changes')
      await project.node('node_modules/typescript/bin/tsc')
      await project.run('node_modules/.bin/biome', 'check', '--error-on-warnings', '--write', 'src', 'scripts', 'test')
      const touched = await project.touched()
      const own = touched.files.filter((file) => file.endsWith('.test.ts'))
      await test(...new Set([...own, ...tests]))
      await project.node('scripts/build.ts')
      for (const store of ['memory:', 'sqlite:data/walk.db']) await callService(project.directory, store, calls)
      return touched
    })
  }
  // The pages describe the document of this project; a maintainer would change them, too.
  if (!options['without-tests']) await timed('the other tests', () => test('--exclude=test/documentation.test.ts'))
  process.stdout.write(`${table(rows)}\n`)
  if (!options.keep) project.remove()
} catch (error) {
  process.stdout.write(`${table(rows)}\n`)
  process.stderr.write(`walk: ${rows.length} failed, in ${project.directory}\n${(error as Error).message}\n`)
  process.exitCode = 1
}

async function timed(name: string, run: () => Promise<Touched | undefined>): Promise<void> {
  process.stderr.write(`${name}\n`)
  const start = performance.now()
  const touched = await run()
  const seconds = ((performance.now() - start) / 1000).toFixed(0)
  const lines = touched === undefined ? '' : `+${touched.added} -${touched.removed}`
  rows.push([name, String(touched?.files.length ?? ''), lines, seconds])
  for (const file of touched?.files ?? []) process.stderr.write(`  ${file}\n`)
}

/** Runs tests of the copy, with files and options of tap as arguments. */
async function test(...args: string[]): Promise<undefined> {
  await project.run(process.execPath, 'node_modules/tap/dist/esm/run.mjs', '--reporter=terse', ...args)
}
