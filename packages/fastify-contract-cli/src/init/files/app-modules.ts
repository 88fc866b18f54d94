import { hasKeyHeader } from '../../document/idempotency-keys.ts'
import { type Document, endpoints } from '../../document/openapi-document.ts'
import { securityScheme, tokenVerifierOf } from '../../document/security-schemes.ts'
import type { Compiled } from '../../emit/compile.ts'
import { keyOf, lineText, stringLiteral } from '../../text/source-text.ts'
import { packageName } from '../package-name.ts'

/** Returns the module of the process of a new project. */
export const serverModule = (title: string): string => `import { runService } from 'fastify-contract/service'
import { contract } from '../generated/contract.mjs'
import { createApp } from './app.ts'

// Environment variables configure the process: PORT, ACCESS_TOKENS, LOG_LEVEL, … They may also be in a file .env.
runService({
  name: ${stringLiteral(packageName(title))},
  contract,
  environmentFile: '.env',
  // Open here what the handlers need, such as a database, and return its close().
  open: async () => ({
    createServer: (contract, verifyToken, settings) => createApp(verifyToken, { contract, ...settings }),
  }),
})
`

/** Returns the module that creates the Fastify instance of a new project. */
export function appModule(compiled: Compiled, hasErrorBody: boolean): string {
  const verifiers = verifiersOf(compiled)
  const imports = new Set(verifiers.flatMap(({ uses }) => uses))
  const values = [...imports, 'createServer'].sort()
  const keys = keyLines(compiled)
  return [
    `import { ${values.join(', ')}, type ServerOptions, type VerifyToken } from 'fastify-contract'`,
    ...keys.imports,
    "import type { Handlers } from '../generated/handler-types.d.ts'",
    ...(hasErrorBody ? ["import { errorBody } from './error-body.ts'"] : []),
    "import { handlers } from './handlers.ts'",
    '',
    "type Options = Omit<ServerOptions<Handlers>, 'handlers' | 'verifiers' | 'errorBody'>",
    '',
    '/** Returns the service as a Fastify instance that does not listen yet. Plugins and hooks can be added to it. */',
    'export const createApp = (verifyToken: VerifyToken, options: Options) =>',
    '  createServer<Handlers>({',
    ...keys.options,
    '    ...options,',
    '    handlers,',
    ...(verifiers.length === 0
      ? []
      : ['    // verifyToken accepts ACCESS_TOKENS, and the tokens of TOKENS_FILE and of JWT_ISSUER.']),
    ...optionLines(verifiers, hasErrorBody, 'src/error-body.ts'),
    '  })',
    '',
  ].join('\n')
}

/** Returns the import and the option of the store of idempotency keys; none if no operation has them. */
export function keyLines({ document }: Compiled): { imports: string[]; options: string[] } {
  if (!endpoints(document).some(hasKeyHeader)) return { imports: [], options: [] }
  return {
    imports: ["import { memoryKeys } from 'fastify-contract/idempotency'"],
    options: [
      '    // Idempotency keys, which only this process sees, and which end with it. Several instances need a store that',
      '    // they share, such as postgresKeys(pool).',
      '    idempotency: { store: memoryKeys() },',
    ],
  }
}

/**
 * Returns the lines of the options `verifiers` and `errorBody`.
 *
 * @param errors The path of the module of errorBody.
 */
export function optionLines(verifiers: VerifierText[], hasErrorBody: boolean, errors: string): string[] {
  const lines = verifiers.flatMap(({ lines }) => lines)
  return [
    ...(lines.length === 0 ? ['    verifiers: {},'] : ['    verifiers: {', ...lines, '    },']),
    ...(hasErrorBody
      ? ['    errorBody,']
      : [
          '    // Plain text, because the errors of the document have members that only you can fill.',
          `    // Write ${errors} with a function errorBody, and use that here: generate then checks it.`,
          "    errorBody: ({ message }) => ({ contentType: 'text/plain', body: message }) as never,",
        ]),
  ]
}

type VerifierText = { uses: string[]; lines: string[] }

/** Returns the verifier of each security scheme that an operation requires. */
export function verifiersOf({ document }: Compiled): VerifierText[] {
  const names = new Set(endpoints(document).flatMap(({ security }) => security.flatMap(Object.keys)))
  return Array.from(names, (name) => verifierOf(document, name))
}

function verifierOf(document: Document, name: string): VerifierText {
  const described = securityScheme(document, name)
  const { type, scheme = '', in: place, name: key = '' } = described
  const verifier = tokenVerifierOf(described)
  const line = (value: string) => `      ${keyOf(name)}: ${value},`
  if (verifier === 'apiKey')
    return {
      uses: ['apiKey'],
      lines: [line(`apiKey({ in: ${stringLiteral(String(place))}, name: ${stringLiteral(key)} }, verifyToken)`)],
    }
  if (verifier === 'basic')
    return { uses: ['basic', 'tokensAsPasswords'], lines: [line('basic(tokensAsPasswords(verifyToken))')] }
  if (verifier === 'bearer') return { uses: ['bearer'], lines: [line('bearer(verifyToken)')] }
  const message = stringLiteral(`the verifier of ${name} is not written yet`)
  return {
    uses: ['ContractError'],
    lines: [
      `      // Write the verifier of "${lineText(type === 'http' ? scheme : type)}"; until then its operations respond with 501.`,
      line(`() => (_request, done) => done(new ContractError('notImplemented', ${message}))`),
    ],
  }
}

/** Returns the module of the handlers of a new project. */
export function handlersModule(handlers: string[]): string {
  const isUsed = handlers.some((handler) => /^ {4}throw new ContractError\(/m.test(handler))
  return [
    ...(isUsed ? ["import { ContractError } from 'fastify-contract'"] : []),
    "import type { Handlers } from '../generated/handler-types.d.ts'",
    '',
    '/**',
    ' * The handlers of the operations. Each takes the validated request, such as { path, query, header, body, client }, and',
    ' * returns one of the responses that the document lists. It throws a ContractError for any other error.',
    ' */',
    'export const handlers: Handlers = {',
    handlers.join('\n\n'),
    '}',
    '',
  ].join('\n')
}
