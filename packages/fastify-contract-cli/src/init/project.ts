import { basename } from 'node:path'
import { type Document, endpoints } from '../document/openapi-document.ts'
import { securityScheme } from '../document/security-schemes.ts'
import type { Compiled } from '../emit/compile.ts'
import { markdownCode, markdownLink, markdownText, shellPath } from '../text/foreign-text.ts'
import { keyOf, lineText, stringLiteral } from '../text/source-text.ts'
import { engineTypes, moduleFindings, operationTypes } from '../typescript/virtual-program.ts'
import type { DerivedErrorBody } from './error-body.ts'
import { npmSettings, type PackageManager, pnpmSettings } from './package-manager.ts'
import type { Runtime } from './runtime.ts'

/** What the files of a new project depend on. */
export type Project = {
  compiled: Compiled
  /** The path of the document within the project. */
  document: string
  /** The text of src/error-body.ts; undefined if it cannot be derived. */
  errorBody: string | undefined
  handlers: string[]
  /** Whether the document has operations that cannot be served. */
  skipsOperations: boolean
  runtime: Runtime
  /** The versions of the packages to install: those that run the service, and those for development. */
  packages: { dependencies: Record<string, string>; devDependencies: Record<string, string> }
  manager: PackageManager
  /** Whether another file has the settings of the package manager. */
  hasSettings: boolean
}

/** Returns the files of a new project that belong to its author, by path. */
export function projectFiles(project: Project): Record<string, string> {
  const { compiled, errorBody, handlers, packages, manager, hasSettings } = project
  return {
    'package.json': json(manifest(project)),
    'tsconfig.json': json({ compilerOptions, include: ['src', 'test', 'generated'] }),
    ...(manager === 'pnpm' &&
      !hasSettings && {
        'pnpm-workspace.yaml': pnpmSettings({ ...packages.dependencies, ...packages.devDependencies }),
      }),
    '.gitignore': 'node_modules/\ndist/\n.env\n',
    'README.md': readme(project),
    'src/server.ts': server(compiled.routes.info.title),
    'src/app.ts': app(compiled, errorBody !== undefined),
    'src/handlers.ts': handlersModule(handlers),
    ...(errorBody !== undefined && { 'src/error-body.ts': errorBody }),
    'test/operations.test.ts': test,
  }
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** Returns a name for the package and its metrics, such as `pet-store` for "Pet Store!". */
export function packageName(title: string): string {
  const words =
    title
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[a-z\d]+/g) ?? []
  const name = words.join('-').slice(0, 60)
  return /^[a-z]/.test(name) ? name : `service-${name}`.replace(/-$/, '')
}

/** Commands run without the document's name if they find it by themselves. */
const argument = (document: string): string => (document === 'openapi.yaml' ? '' : ` ${shellPath(document)}`)

function manifest({ compiled, document, skipsOperations, runtime, packages, manager, hasSettings }: Project): object {
  const name = argument(document)
  const options = `${name}${skipsOperations ? ' --skip-unsupported' : ''}`
  return {
    name: packageName(compiled.routes.info.title),
    version: '0.0.0',
    private: true,
    type: 'module',
    engines: { node: runtime.node },
    scripts: {
      start: `${runtime.command} src/server.ts`,
      dev: `fastify-contract dev${options}`,
      generate: `fastify-contract generate${options}`,
      test: `${runtime.command} --test test/*.test.ts`,
      typecheck: 'fastify-contract typecheck',
      lint: `fastify-contract lint${name} && fastify-contract typecheck`,
      docs: `fastify-contract docs${options}`,
    },
    ...packages,
    ...(manager === 'npm' && !hasSettings && npmSettings),
  }
}

/** The compiler options of a new project. */
export const compilerOptions = {
  target: 'ES2023',
  module: 'NodeNext',
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  resolveJsonModule: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  noEmit: true,
}

const server = (title: string): string => `import { runService } from 'fastify-contract/service'
import { contract } from '../generated/contract.mjs'
import { createApp } from './app.ts'

// Environment variables configure the process: PORT, ACCESS_TOKENS, LOG_LEVEL, …
runService({
  name: ${stringLiteral(packageName(title))},
  contract,
  // Open here what the handlers need, such as a database, and return its close().
  open: async () => ({
    createServer: (contract, verifyToken, settings) => createApp(verifyToken, { contract, ...settings }),
  }),
})
`

function app(compiled: Compiled, hasErrorBody: boolean): string {
  const verifiers = verifiersOf(compiled)
  const imports = new Set(verifiers.flatMap(({ uses }) => uses))
  const values = [...imports, 'createServer'].sort()
  const errors = hasErrorBody
    ? ['    errorBody,']
    : [
        '    // Plain text, because the errors of the document have members that only you can fill. Write src/error-body.ts with a',
        '    // function errorBody, and use that here: generate then checks it against the document.',
        "    errorBody: ({ message }) => ({ contentType: 'text/plain', body: message }) as never,",
      ]
  return [
    `import { ${values.join(', ')}, type ServerOptions, type VerifyToken } from 'fastify-contract'`,
    "import type { operations } from '../generated/api.d.ts'",
    ...(hasErrorBody ? ["import { errorBody } from './error-body.ts'"] : []),
    "import { handlers } from './handlers.ts'",
    '',
    "type Options = Omit<ServerOptions<operations>, 'handlers' | 'verifiers' | 'errorBody'>",
    '',
    '/** Returns the service as a Fastify instance that does not listen yet. Plugins and hooks can be added to it. */',
    'export const createApp = (verifyToken: VerifyToken, options: Options) =>',
    '  createServer<operations>({',
    '    ...options,',
    '    handlers,',
    verifiers.length === 0
      ? '    verifiers: {},'
      : '    // verifyToken accepts ACCESS_TOKENS, and the tokens of TOKENS_FILE and of JWT_ISSUER.',
    ...(verifiers.length === 0 ? [] : ['    verifiers: {', ...verifiers.flatMap(({ lines }) => lines), '    },']),
    ...errors,
    '  })',
    '',
  ].join('\n')
}

type VerifierText = { uses: string[]; lines: string[] }

/** Returns the verifier of each security scheme that an operation requires. */
function verifiersOf({ document }: Compiled): VerifierText[] {
  const names = new Set(endpoints(document).flatMap(({ security }) => security.flatMap(Object.keys)))
  return Array.from(names, (name) => verifierOf(document, name))
}

function verifierOf(document: Document, name: string): VerifierText {
  const { type, scheme = '', in: place, name: key = '' } = securityScheme(document, name)
  const kind = type === 'http' ? scheme.toLowerCase() : type
  const line = (value: string) => `      ${keyOf(name)}: ${value},`
  if (kind === 'apiKey')
    return {
      uses: ['apiKey'],
      lines: [line(`apiKey({ in: ${stringLiteral(String(place))}, name: ${stringLiteral(key)} }, verifyToken)`)],
    }
  if (kind === 'basic')
    return { uses: ['basic', 'tokensAsPasswords'], lines: [line('basic(tokensAsPasswords(verifyToken))')] }
  if (['bearer', 'oauth2', 'openIdConnect'].includes(kind))
    return { uses: ['bearer'], lines: [line('bearer(verifyToken)')] }
  const message = stringLiteral(`the verifier of ${name} is not written yet`)
  return {
    uses: ['ContractError'],
    lines: [
      `      // Write the verifier of "${lineText(kind)}"; until then its operations respond with 501.`,
      line(`() => (_request, done) => done(new ContractError('notImplemented', ${message}))`),
    ],
  }
}

function handlersModule(handlers: string[]): string {
  const isUsed = handlers.some((handler) => /^ {4}throw new ContractError\(/m.test(handler))
  return [
    `import ${isUsed ? '{ ContractError, type Handlers }' : 'type { Handlers }'} from 'fastify-contract'`,
    "import type { operations } from '../generated/api.d.ts'",
    '',
    '/**',
    ' * The handlers of the operations. Each takes the validated request, such as { path, query, header, body, client }, and',
    ' * returns one of the responses that the document lists. It throws a ContractError for any other error.',
    ' */',
    'export const handlers: Handlers<operations> = {',
    handlers.join('\n\n'),
    '}',
    '',
  ].join('\n')
}

const test = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listVerifier, newToken, requestContext } from 'fastify-contract'
import { exampleCalls } from 'fastify-contract-cli/examples'
import { contract } from '../generated/contract.mjs'
import { createApp } from '../src/app.ts'

const token = newToken()
const scopes = contract.routes.operations.flatMap(({ security }) => security.flatMap((one) => Object.values(one).flat()))
// A busy machine that runs tests must not shed load.
const app = createApp(listVerifier([token], scopes), { contract, limits: { eventLoopDelay: 60_000 } })

/** The operations whose handlers were called. */
const called = new Set<string | undefined>()
app.addHook('preHandler', async (request) => {
  called.add(requestContext(request).operation)
})

const calls = exampleCalls(contract, token)
for (const { operationId } of contract.routes.operations) {
  if (calls.some((call) => call.operationId === operationId)) continue
  const skip = 'no valid example of the request is known; add one to the document'
  test(\`\${operationId} handles its example request\`, { skip }, () => {})
}

for (const { operationId, request } of calls) {
  test(\`\${operationId} handles its example request\`, async () => {
    const { statusCode, body } = await app.inject(request)
    // An operation that is not written yet responds with 501.
    if (statusCode === 501) return
    const outcome = \`\${request.method} \${request.url}: \${statusCode} \${body}\`
    assert.ok(called.has(operationId), \`rejected before its handler: \${outcome}\`)
    // A 404, for example, is right if the handlers have no data of the example.
    assert.ok(statusCode < 500, outcome)
  })
}

test('an unknown path gets 404', async () => {
  assert.equal((await app.inject('/no/such/path')).statusCode, 404)
})
`

function readme({ compiled, document, errorBody, runtime, manager }: Project): string {
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

To change an operation, run \`${manager} run dev\` and edit the contract. The terminal then shows what changed for the
handlers, each handler that no longer matches, and a new handler to paste for each new operation. The service restarts when
everything compiles.

| command | what it does |
|---|---|
| \`${manager} run dev\` | runs the service and restarts it after each change |
| \`${manager} test\` | calls each operation |
| \`${manager} run typecheck\` | names each handler that does not match the contract |
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

/** Returns the derived module if it has the types of the document. */
export function checkedErrorBody(derived: DerivedErrorBody, types: string): DerivedErrorBody {
  if ('reasons' in derived) return derived
  const text = derived.text
    .replace("'fastify-contract'", `'${engineTypes}'`)
    .replace("'../generated/api.d.ts'", `'${operationTypes}'`)
    // The types of Node.js are installed with the project.
    .replace(/^import (.*) from 'node:http'$/m, 'declare const STATUS_CODES: Record<string, string | undefined>')
  const [finding] = moduleFindings(text, types, compilerOptions)
  return finding === undefined ? derived : { reasons: [finding.message] }
}
