/**
 * npm run build [-- --types]
 *
 * Writes what npm start runs into dist/, and the docs page that it shows, unless that is there and of the same document;
 * with --types also the declarations of what the package exports.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundle } from './build/bundle.ts'
import { writeDeclarations } from './build/declarations.ts'
import { writeStaleDocs } from './docs/docs-page.ts'

const { values: options } = parseArgs({ options: { types: { type: 'boolean', default: false } } })

await Promise.all([bundle(), writeStaleDocs(join('dist', 'docs'))])
if (options.types) await writeDeclarations()
