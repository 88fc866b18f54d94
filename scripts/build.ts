import { join } from 'node:path'
import { bundle } from './build/bundle.ts'
import { writeClientPackage } from './build/client-package.ts'
import { writeDeclarations } from './build/declarations.ts'
import { writeStaleDocs } from './docs/docs-page.ts'
import { commandLine } from './system/command-line.ts'

const { options } = commandLine(
  `npm run build [-- --types] [-- --client]

Writes what npm start runs into dist/, and the docs page that it shows, unless that is there and of the same document;
with --types also the declarations of what the package exports, and with --client the package of the client,
dist/client.
`,
  { types: false, client: false },
)

await Promise.all([bundle(), writeStaleDocs(join('dist', 'docs'))])
if (options.types) await writeDeclarations()
if (options.client) await writeClientPackage()
