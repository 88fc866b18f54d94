import { join } from 'node:path'
import { writeStaleDocs, writeTryPage } from 'fastify-contract-cli/docs'
import { bundle } from './build/bundle.ts'
import { writeClientPackage } from './build/client-package.ts'
import { writeDeclarations } from './build/declarations.ts'
import { writePackages } from './build/packages.ts'
import { commandLine } from './system/command-line.ts'

const { options } = commandLine(
  `npm run build [-- --types] [-- --client] [-- --packages]

Builds the service for npm start into dist/, with the page that tries operations. Builds the docs page, too, unless it
is up to date. With --types it also writes the type declarations of the package's exports, and with --client the package
of the client, dist/client. With --packages it writes the packages of packages/ as they are published, such as
dist/fastify-contract.
`,
  { types: false, client: false, packages: false },
)

const docs = join('dist', 'docs')
await Promise.all([bundle(), writeStaleDocs(docs, { client: 'plant-store/client' }), writeTryPage(docs)])
if (options.types) await writeDeclarations()
if (options.client) await writeClientPackage()
if (options.packages) await writePackages()
