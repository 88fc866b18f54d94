import { join } from 'node:path'
import { commandLine } from '../packages/fastify-contract/src/cli/command-line.ts'
import { writeStaleDocs, writeTryPage } from '../packages/fastify-contract/src/docs/docs-page.ts'
import { bundle } from './build/bundle.ts'
import { writeClientPackage } from './build/client-package.ts'
import { writeDeclarations } from './build/declarations.ts'

const { options } = commandLine(
  `npm run build [-- --types] [-- --client]

Builds the service for npm start into dist/, with the page that tries operations. Builds the docs page, too, unless it
is up to date. With --types it also writes the type declarations of the package's exports, and with --client the package
of the client, dist/client.
`,
  { types: false, client: false },
)

const docs = join('dist', 'docs')
await Promise.all([bundle(), writeStaleDocs(docs, { client: 'plant-store/client' }), writeTryPage(docs)])
if (options.types) await writeDeclarations()
if (options.client) await writeClientPackage()
