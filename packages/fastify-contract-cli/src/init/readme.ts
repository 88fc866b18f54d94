import { basename } from 'node:path'
import { markdownCode, markdownLink, markdownText } from '../text/foreign-text.ts'
import type { Project } from './project.ts'

/** Returns the README of a new project. */
export function readme({ compiled, document, errorBody, runtime, manager }: Project): string {
  const { title } = compiled.routes.info
  const production = { npm: 'npm ci --omit=dev', pnpm: 'pnpm install --frozen-lockfile --prod' }[manager]
  return `# ${markdownText(title)}

A service for ${markdownLink(basename(document), document)}, with [fastify-contract](node_modules/fastify-contract/README.md).

\`\`\`sh
${manager} install
${manager} start
\`\`\`

Without \`ACCESS_TOKENS\` or another source of tokens, \`${manager} start\` creates a token and prints a call with it. The
service accepts tokens from \`ACCESS_TOKENS\` (separated by commas), \`TOKENS_FILE\` or \`JWT_ISSUER\`.

| file | what it is |
|---|---|
| ${markdownCode(document)} | the contract: the only place that defines operations |
| \`generated/\` | written by \`${manager} run generate\` from the contract; commit it, do not edit it |
| \`src/handlers.ts\` | what each operation does |
| \`src/app.ts\` | the handlers with their verifiers, as one Fastify instance |
${errorBody === undefined ? '' : '| `src/error-body.ts` | the body of the errors that the service itself sends |\n'}| \`src/server.ts\` | the process: configuration, log, metrics, probes, graceful shutdown |
| \`test/operations.test.ts\` | calls each operation with its example |

To change an operation, run \`${manager} run dev\` and edit the contract. The terminal then shows each handler that no longer
matches it, and a new handler to paste for each new operation. The service restarts when everything compiles.

| command | what it does |
|---|---|
| \`${manager} run dev\` | runs the service and restarts it after each change |
| \`${manager} test\` | calls each operation |
| \`${manager} run lint\` | advises on the style of the contract, and checks the types |
| \`${manager} run docs\` | writes the documentation, which the service then shows at http://127.0.0.1:3001/docs |

For production, install with \`${production}\`, which leaves out what only the commands need. There is no build:
${runtimeNotes[runtime.command].replaceAll(/\bnpm\b/g, manager)}
`
}

/** How a project runs its TypeScript modules, and how to change that. */
const runtimeNotes = {
  node: `Node.js 22.18, or 24.3, and newer run the TypeScript modules as they are. For an older Node.js, install tsx, and
replace \`node\` by \`tsx\` in the scripts of \`package.json\`.`,
  tsx: `tsx runs the TypeScript modules as they are. Node.js 22.18, or 24.3, and newer need no tsx: replace \`tsx\` by \`node\`
in the scripts of \`package.json\`, and run \`npm uninstall tsx\`.`,
}
