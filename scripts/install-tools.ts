import { installTools } from './system/install-tools.ts'

// Installs the packages of each folder of the command line, such as scripts/postgres, which npm ci leaves out.
try {
  for (const folder of process.argv.slice(2)) installTools(folder)
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
