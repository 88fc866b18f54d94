import { basename } from 'node:path'
import { markdownCode, markdownLink, markdownText } from '../../text/foreign-text.ts'
import { installation } from '../package-manager.ts'
import { packageName } from '../package-name.ts'
import type { Project } from '../project.ts'
import { isSecured } from './environment-example.ts'
import { serviceTestPath } from './service-test.ts'

/** Returns the README of a new project. */
export function readme({ compiled, document, errorBody, runtime, packages, manager, leftOut }: Project): string {
  const { title } = compiled.routes.info
  const exec = { npm: 'npx', pnpm: 'pnpm exec' }[manager]
  const files: [path: string, what: string][] = [
    [markdownCode(document), 'the contract: the only place that defines operations'],
    ['`generated/`', `written by \`${manager} run generate\` from the contract; commit it, do not edit it`],
    ['`src/handlers.ts`', 'what each operation does'],
    ['`src/app.ts`', 'the handlers with their verifiers, as one Fastify instance'],
    ...(errorBody === undefined
      ? []
      : ([['`src/error-body.ts`', 'the body of the errors that the service itself sends']] as [string, string][])),
    ['`src/server.ts`', 'the process: configuration, log, metrics, probes, graceful shutdown'],
    ...(packages.dependencies['fastify-contract']?.startsWith('file:')
      ? ([['`vendor/`', 'the packages of fastify-contract, which no registry has; commit them']] as [string, string][])
      : []),
    [`\`${serviceTestPath}\``, 'sends requests that the contract implies, and checks the responses'],
    ...optionalFiles
      .filter(([path]) => !leftOut.has(path))
      .map(([path, what]) => [`\`${path}\``, what] as [string, string]),
  ]
  return `# ${markdownText(title)}

A service for ${markdownLink(basename(document), document)}, with [fastify-contract](node_modules/fastify-contract/README.md).

\`\`\`sh
${manager} install
${manager} start
\`\`\`

Without \`ACCESS_TOKENS\` or another source of tokens, \`${manager} start\` creates a token and prints a call with it. The
service accepts tokens from \`ACCESS_TOKENS\` (separated by commas), \`TOKENS_FILE\` or \`JWT_ISSUER\`. These and all
[other variables](node_modules/fastify-contract/docs/configuration.md) may also be in a file \`.env\`.

| file | what it is |
|---|---|
${files.map(([path, what]) => `| ${path} | ${what} |`).join('\n')}

To change an operation, run \`${manager} run dev\` and edit the contract. The terminal then shows what changed for the
handlers, each handler that no longer matches, and a new handler to paste for each new operation. The service restarts when
everything compiles.

| command | what it does |
|---|---|
| \`${manager} run dev\` | runs the service and restarts it after each change |
| \`${manager} test\` | tests each operation by the contract |
| \`${exec} fastify-contract test\` | the same with a report; \`--url\` tests a running service, \`--help\` prints all options |
| \`${manager} run typecheck\` | names each handler that does not match the contract |
| \`${manager} run lint\` | advises on the style of the contract, and checks the types |
| \`${manager} run docs\` | writes \`dist/docs\`, which the service shows at http://127.0.0.1:3001/docs; run it after a clone |

## Production

${leftOut.has('Dockerfile') ? '' : `${imageNotes(packageName(title), manager, isSecured(compiled))}\n\n`}Without a container, install with \`${installation[manager].production}\`, which leaves out what only the commands need. There is no build:
${runtimeNotes[runtime.command].replaceAll(/\bnpm\b/g, manager)}
`
}

/** The files that a project may lack, with what they are. */
const optionalFiles: [path: string, what: string][] = [
  ['.env.example', 'the variables that matter, to copy to `.env`'],
  ['Dockerfile', 'the image for production, with its documentation'],
  ['.github/workflows/ci.yaml', 'checks each commit on GitHub'],
  ['AGENTS.md', 'tells coding agents how to change the service'],
]

const imageNotes = (name: string, manager: string, isSecured: boolean): string => `\`\`\`sh
docker build --tag ${name} .
${isSecured ? 'export ACCESS_TOKENS="$(openssl rand -base64 32)"\n' : ''}docker run --rm --stop-timeout 40 --publish 127.0.0.1:3000:3000 ${isSecured ? '--env ACCESS_TOKENS ' : ''}${name}
\`\`\`

The build needs the lock file that \`${manager} install\` writes. With Podman, add \`--format docker\`, because its default
format has no health check. The container runs as user 10001 and needs no writable path. After \`docker stop\`, it finishes
the requests in flight.`

/** How a project runs its TypeScript modules, and how to change that. */
const runtimeNotes = {
  node: `Node.js 22.18, or 24.3, and newer run the TypeScript modules as they are. For an older Node.js, install tsx, and
replace \`node\` by \`tsx\` in the scripts of \`package.json\`.`,
  tsx: `tsx runs the TypeScript modules as they are. Node.js 22.18, or 24.3, and newer need no tsx: replace \`tsx\` by \`node\`
in the scripts of \`package.json\`, and run \`npm uninstall tsx\`.`,
}
