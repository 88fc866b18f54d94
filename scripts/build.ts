/**
 * npm run build [-- --types]
 *
 * Writes what npm start runs into dist/; with --types also the declarations of what the package exports.
 */
import { parseArgs } from 'node:util'
import { bundle } from './bundle.ts'
import { writeDeclarations } from './declarations.ts'

const { values: options } = parseArgs({ options: { types: { type: 'boolean', default: false } } })

await bundle()
if (options.types) await writeDeclarations()
