import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { writeStaleDocs } from 'fastify-contract-cli/docs'
import { commandLine } from './system/command-line.ts'
import { installTools } from './system/install-tools.ts'

const { options } = commandLine(
  `npm run site [-- --serve]

Builds the documentation site from the Markdown pages of this repository and the pages of npm run docs into dist/site.
The site loads nothing from elsewhere, works under any path, and has each page as Markdown, too. Fails if a link leads
nowhere. With --serve it then serves the site on 127.0.0.1, on the port PORT (default: 8080), until Ctrl-C. First
installs the generator of scripts/site, which npm ci leaves out, if it is missing or outdated.
`,
  { serve: false },
)

const folder = join('scripts', 'site')
const out = join('dist', 'site')

/** Runs a program of the generator's packages; its exit code becomes that of this process. */
function run(name: string, ...args: string[]): void {
  const program = join(folder, 'node_modules', name, 'bin', `${name}.js`)
  const { status } = spawnSync(process.execPath, [program, ...args], { stdio: 'inherit' })
  process.exitCode = status ?? 1
}

installTools(folder)
await writeStaleDocs(join('dist', 'docs'), { client: 'plant-store/client' })
run('vitepress', 'build', folder)
if (options.serve && process.exitCode === 0) {
  // The server of VitePress listens on all addresses.
  run('vite', 'preview', '--outDir', out, '--host', '127.0.0.1', '--port', process.env.PORT ?? '8080', '--strictPort')
}
