import { chmod, cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { installNode, runNpm } from './system/install-node.ts'

// Does not use commandLine, because the arguments of npm test are not known here.
const help = `npx tsx scripts/test-node.ts VERSION [ARGUMENTS OF npm test]

Runs the tests on another version of Node: 24, or 22.14.0. A temporary directory gets that Node, from the npm package
"node", and a copy of the project, in which npm ci and npm test run.
`

/** The names of build results and of files that belong to one machine, which are not copied. */
const leftOut = ['node_modules', 'dist', 'data', 'secrets', '.tap', '.git']

const [version = '', ...args] = process.argv.slice(2)
if (/^\d+(\.\d+){0,2}$/.test(version)) {
  const directory = await mkdtemp(join(tmpdir(), 'test-node-'))
  try {
    // One test runs the service from this directory as another user, which needs access.
    await chmod(directory, 0o711)
    process.exitCode = await testOn(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
} else if (version === '--help' || version === '-h') {
  process.stdout.write(help)
} else {
  console.error(
    'usage: npx tsx scripts/test-node.ts VERSION [ARGUMENTS OF npm test], as in npx tsx scripts/test-node.ts 24',
  )
  process.exitCode = 1
}

/** Installs Node and the project in a directory and runs the tests. Returns the first exit code that is not 0, or 0. */
async function testOn(directory: string): Promise<number> {
  const { code, env } = await installNode(version, directory)
  if (code !== 0) return code
  const project = join(directory, 'plant-store')
  await cp('.', project, { recursive: true, filter: (path) => !leftOut.includes(basename(path)) })
  return (await runNpm(['ci'], { cwd: project, env })) || (await runNpm(['test', '--', ...args], { cwd: project, env }))
}
