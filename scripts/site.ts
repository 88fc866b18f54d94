import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { writeStaleDocs } from 'fastify-contract-cli/docs'
import { commandLine } from './system/command-line.ts'
import { installTools } from './system/install-tools.ts'

const { options } = commandLine(
  `npm run site [-- --serve]

Builds the documentation site from the Markdown pages of this repository and the pages of npm run docs into dist/site.
The site loads nothing from elsewhere, works under any path, and has each page as Markdown, too. Fails if a link leads
nowhere. With --serve it then serves the site on this machine until Ctrl-C. First installs the generator of
scripts/site, which npm ci leaves out, if it is missing or outdated.
`,
  { serve: false },
)

const folder = join('scripts', 'site')
const generator = join(folder, 'node_modules', 'vitepress', 'bin', 'vitepress.js')
const commands = options.serve ? ['build', 'preview'] : ['build']
installTools(folder)
await writeStaleDocs(join('dist', 'docs'), { client: 'plant-store/client' })
for (const command of commands) {
  const { status } = spawnSync(process.execPath, [generator, command, folder], { stdio: 'inherit' })
  process.exitCode = status ?? 1
  if (process.exitCode !== 0) break
}
