import { createRequire } from 'node:module'
import type ts from 'typescript'

/*
 * Both packages are loaded as CommonJS, which saves half a second of each command: before an ES import Node searches
 * the nine megabytes of TypeScript for the names of exports, and the entry of openapi-typescript loads a linter.
 */
const require = createRequire(import.meta.url)

export const compiler: typeof ts = require('typescript')
export const transformSchemaObject: (schema: unknown, options: object) => ts.TypeNode =
  require('openapi-typescript/dist/transform/schema-object.cjs').default
export const { addJSDocComment: addComment }: { addJSDocComment: (object: unknown, node: ts.Node) => void } =
  require('openapi-typescript/dist/lib/ts.cjs')
