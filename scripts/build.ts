import { join } from 'node:path'
import { commandLine } from 'fastify-contract-cli/command-line'
import { writeStaleDocs, writeTryPage } from 'fastify-contract-cli/docs'
import { bundle } from './build/bundle.ts'
import { writeClientPackage } from './build/client-package.ts'
import { writeDeclarations } from './build/declarations.ts'
import { writeEnginePackage } from './build/engine-package.ts'

const { options } = commandLine(
  `npm run build [-- --types] [-- --client] [-- --engine]

Builds the service for npm start into dist/, with the page that tries operations. Builds the docs page, too, unless it
is up to date. With --types it also writes the type declarations of the package's exports, and with --client the package
of the client, dist/client. With --engine it writes the package of the engine, dist/fastify-contract.
`,
  { types: false, client: false, engine: false },
)

const docs = join('dist', 'docs')
await Promise.all([bundle(), writeStaleDocs(docs, { client: 'plant-store/client' }), writeTryPage(docs)])
if (options.types) await writeDeclarations()
if (options.client) await writeClientPackage()
if (options.engine) await writeEnginePackage()
