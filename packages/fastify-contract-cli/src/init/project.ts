import type { Compiled } from '../emit/compile.ts'
import { agentsPage } from './files/agents-page.ts'
import { appModule, handlersModule, serverModule } from './files/app-modules.ts'
import { ciWorkflow } from './files/ci-workflow.ts'
import { dockerfile, dockerignore } from './files/dockerfile.ts'
import { editorconfig } from './files/editorconfig.ts'
import { environmentExample } from './files/environment-example.ts'
import { gitignore } from './files/gitignore.ts'
import { readme } from './files/readme.ts'
import { serviceTest, serviceTestPath } from './files/service-test.ts'
import { npmSettings, type PackageManager, pnpmSettings } from './package-manager.ts'
import { packageName } from './package-name.ts'
import type { Runtime } from './runtime.ts'

/** What the files of a new project depend on. */
export type Project = {
  compiled: Compiled
  /** The path of the document within the project. */
  document: string
  /** The URL from which it was fetched. */
  origin?: string | undefined
  /** The paths of its overlays within the project. */
  overlays?: string[]
  /** The other origins to which it may refer. */
  allowOrigin?: string | undefined
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
  /** The paths of files that are not written. */
  leftOut: Set<string>
}

/** Returns the files of a new project that belong to its author, by path. */
export function projectFiles(project: Project): Record<string, string> {
  const { compiled, errorBody, handlers, manager, hasSettings, leftOut } = project
  const files = {
    'package.json': json(manifest(project)),
    'tsconfig.json': json({ compilerOptions, include: ['src', 'test', 'generated'] }),
    ...(manager === 'pnpm' &&
      !hasSettings && {
        'pnpm-workspace.yaml': pnpmSettings,
      }),
    '.gitignore': gitignore,
    '.editorconfig': editorconfig,
    '.env.example': environmentExample(project),
    'README.md': readme(project),
    'AGENTS.md': agentsPage(project),
    Dockerfile: dockerfile(project),
    '.dockerignore': dockerignore,
    '.github/workflows/ci.yaml': ciWorkflow(project),
    'src/server.ts': serverModule(compiled.routes.info.title),
    'src/app.ts': appModule(compiled, errorBody !== undefined),
    'src/handlers.ts': handlersModule(handlers),
    ...(errorBody !== undefined && { 'src/error-body.ts': errorBody }),
    [serviceTestPath]: serviceTest(compiled, errorBody !== undefined),
  }
  return Object.fromEntries(Object.entries(files).filter(([path]) => !leftOut.has(path)))
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

function manifest({
  compiled,
  document,
  origin,
  allowOrigin,
  overlays = [],
  skipsOperations,
  runtime,
  packages,
  manager,
  hasSettings,
}: Project): object {
  return {
    name: packageName(compiled.routes.info.title),
    version: '0.0.0',
    private: true,
    type: 'module',
    engines: { node: runtime.node },
    scripts: {
      start: `${runtime.command} src/server.ts`,
      dev: 'fastify-contract dev',
      generate: 'fastify-contract generate',
      test: `${runtime.command} --test test/*.test.ts`,
      typecheck: 'fastify-contract typecheck',
      lint: 'fastify-contract lint && fastify-contract typecheck',
      docs: 'fastify-contract docs',
    },
    'fastify-contract': {
      document,
      origin,
      allowOrigin,
      ...(overlays.length > 0 && { overlays }),
      ...(skipsOperations && { skipUnsupported: true }),
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
