import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import packageFile from '../../package.json' with { type: 'json' }
import { nodeProblem } from '../../src/cli/node-version.ts'

// Runs the module that follows on the command line, if any, as a command of package.json; npm sets its name in the
// environment. It checks the version of Node before the import, because in an older Node a missing named export would
// fail before any statement of the module runs.
const problem = nodeProblem(process.versions.node, packageFile.engines.node)
if (problem !== undefined) {
  const name = String(process.env.npm_lifecycle_event).replace(/^pre(?=test)/, '')
  process.stderr.write(`${name}: ${problem}\n`)
  process.exit(1)
}
process.argv.splice(1, 1)
const [, module] = process.argv
if (module !== undefined) await import(pathToFileURL(resolve(module)).href)
