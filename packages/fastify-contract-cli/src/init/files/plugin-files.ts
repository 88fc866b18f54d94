import { join } from 'node:path'
import { endpoints } from '../../document/openapi-document.ts'
import type { Compiled } from '../../emit/compile.ts'
import { literal } from '../../text/source-text.ts'
import type { ExistingApplication } from '../existing-application.ts'
import { handlersModule, keyLines, optionLines, verifiersOf } from './app-modules.ts'
import { pluginTest } from './plugin-test.ts'
import { untestable } from './service-test.ts'

/** The modules that `init --into` writes, by path, and those that messages and scripts name. */
export type PluginFiles = {
  files: Record<string, string>
  plugin: string
  handlers: string
  errors: string
  hasKeys: boolean
}

/** Returns the modules that serve the operations as a plugin of an existing application. */
export function pluginFiles(
  compiled: Compiled,
  handlers: string[],
  errorBody: string | undefined,
  application: ExistingApplication,
): PluginFiles {
  const { sources, language, modules, importsTypeScript, testRunner } = application
  const isTypeScript = language === 'typescript'
  // In a package of CommonJS, only this extension makes a module, which the package of the engine needs.
  const extension = (modules === 'commonjs' ? 'm' : '') + (isTypeScript ? 'ts' : 'js')
  const imported = importsTypeScript ? extension : extension.replace('ts', 'js')
  const generated = sources === '.' ? '../generated' : '../../generated'
  const directory = join(sources, 'contract')
  const pathOf = (name: string) => join(directory, `${name}.${extension}`)
  const parts = partsOf(compiled, errorBody !== undefined, pathOf('error-body'))
  const hasTest = testRunner !== undefined && untestable(compiled.document) === undefined
  const texts = {
    handlers: handlersModule(handlers),
    plugin: pluginModule(parts),
    ...(errorBody !== undefined && { 'error-body': errorBody }),
    ...(parts.usesTokens && { 'verify-token': tokenModule(compiled) }),
    ...(hasTest && { 'contract.test': pluginTest(compiled, errorBody !== undefined, testRunner) }),
  }
  const files: Record<string, string> = {}
  for (const [name, text] of Object.entries(texts)) {
    const placed = text
      .replaceAll("'../generated/", `'${generated}/`)
      .replace(/'(\.\/[\w-]+)\.ts'/g, `'$1.${imported}'`)
    files[pathOf(name)] = isTypeScript ? placed : withoutTypes(placed)
  }
  return {
    files,
    plugin: pathOf('plugin'),
    handlers: pathOf('handlers'),
    errors: pathOf('error-body'),
    hasKeys: parts.imports.length > 0,
  }
}

type Parts = { names: string[]; imports: string[]; options: string[]; usesTokens: boolean; hasErrorBody: boolean }

function partsOf(compiled: Compiled, hasErrorBody: boolean, errors: string): Parts {
  const verifiers = verifiersOf(compiled)
  const keys = keyLines(compiled)
  const options = [...optionLines(verifiers, hasErrorBody, errors), ...keys.options]
  return {
    imports: keys.imports,
    names: [...new Set(['contractPlugin', ...verifiers.flatMap(({ uses }) => uses)])].sort(),
    options,
    usesTokens: options.some((line) => /\bverifyToken\b/.test(line)),
    hasErrorBody,
  }
}

function pluginModule({ names, imports, options, usesTokens, hasErrorBody }: Parts): string {
  return [
    "import type { FastifyInstance } from 'fastify'",
    `import { ${names.join(', ')} } from 'fastify-contract'`,
    ...imports,
    "import type { Handlers } from '../generated/handler-types.d.ts'",
    "import { contract } from '../generated/contract.mjs'",
    ...(hasErrorBody ? ["import { errorBody } from './error-body.ts'"] : []),
    "import { handlers } from './handlers.ts'",
    ...(usesTokens ? ["import { verifyToken } from './verify-token.ts'"] : []),
    '',
    '/** Serves the operations of the document, as a plugin of Fastify. */',
    'export default function contractRoutes(app: FastifyInstance, options: { prefix?: string }): Promise<void> {',
    '  return contractPlugin<Handlers>(app, {',
    '    ...options,',
    '    contract,',
    '    handlers,',
    ...options,
    '  })',
    '}',
    '',
  ].join('\n')
}

/** Returns the module that verifies tokens: those of a variable, and none without it, so that no route is open. */
function tokenModule({ document }: Compiled): string {
  const scopes = new Set(endpoints(document).flatMap(({ security }) => security.flatMap(Object.values).flat()))
  const given = scopes.size === 0 ? '' : `, ${literal([...scopes], 110, '')}`
  return `import { listVerifier, type VerifyToken } from 'fastify-contract'

const tokens = (process.env.ACCESS_TOKENS ?? '').split(',').filter((token) => token !== '')

/**
 * Returns the client of a token, or undefined if the token is not valid. Replace it by the way in which this application
 * verifies tokens. Until then it accepts those of the environment variable ACCESS_TOKENS, separated by commas, and none
 * without it.
 */
export const verifyToken: VerifyToken = listVerifier(tokens${given})
`
}

/** Returns one of the modules above as JavaScript, with the types of its export in a comment. */
function withoutTypes(text: string): string {
  const [, generated, types = ''] = /^import type \{ (Handlers|operations) \} from '(.*)'$/m.exec(text) ?? []
  const typed = (name: string) =>
    name === generated
      ? `import('${types}').${name}`
      : `import('fastify-contract').${name.replace('operations', `import('${types}').operations`)}`
  return text
    .replace(/^import type .*\n/gm, '')
    .trimStart()
    .replace(/^(import \{.*?), type \w+ \}/gm, '$1 }')
    .replace(/^( {2}async .*\(\)): ReturnType<.*> \{$/gm, '$1 {')
    .replace(/^\/\*\* (.*) \*\/$/m, '/**\n * $1\n */')
    .replace(
      /^ \*\/\nexport const (\w+): (.*?) = /m,
      (_, name, type) => ` *\n * @type {${typed(type)}}\n */\nexport const ${name} = `,
    )
    .replace(
      / \*\/\n(export default function \w+)\(app: FastifyInstance, options: (.*)\): Promise<void>/,
      " *\n * @type {import('fastify').FastifyPluginAsync<$2>}\n */\n$1(app, options)",
    )
    .replace('contractPlugin<Handlers>', 'contractPlugin')
    .replace(' as never,', ',')
}
