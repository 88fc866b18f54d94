import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { directoriesFrom, manifestIn } from './manifests.ts'

/** The package managers that `init` knows. */
export type PackageManager = 'npm' | 'pnpm'

/** Returns the package manager of a project: pnpm if its directory or one above has files of pnpm, or if pnpm runs this process. */
export function packageManagerOf(directory: string): PackageManager {
  const hasFile = directoriesFrom(directory).some((above) =>
    ['pnpm-workspace.yaml', 'pnpm-lock.yaml'].some((name) => existsSync(join(above, name))),
  )
  return hasFile || process.env.npm_config_user_agent?.startsWith('pnpm/') ? 'pnpm' : 'npm'
}

/** How each package manager installs exactly what its lock file names. */
export const installation = {
  npm: { lock: 'package-lock.json', all: 'npm ci', production: 'npm ci --omit=dev' },
  pnpm: {
    lock: 'pnpm-lock.yaml',
    all: 'pnpm install --frozen-lockfile',
    production: 'pnpm install --frozen-lockfile --prod',
  },
}

/** Returns the commands that install a package manager where only Node.js is: none for npm, which Node.js brings. */
export function setupOf(manager: PackageManager): string[] {
  if (manager === 'npm') return []
  // A lock file may need the version that wrote it. 12 is the tested one.
  const [, major = '12'] = /^pnpm\/(\d+)\./.exec(process.env.npm_config_user_agent ?? '') ?? []
  return [`npm install --global pnpm@${major}`]
}

/**
 * Returns the path of the file with the settings of a project if it has one or belongs to a workspace: a
 * pnpm-workspace.yaml, or the package.json of npm's workspace. Package managers ignore the settings of a member.
 */
export const settingsFile = (manager: PackageManager, directory: string): string | undefined =>
  manager === 'pnpm' ? pnpmWorkspaceOf(directory) : npmWorkspaceAbove(directory)

/** A pnpm-workspace.yaml above without `packages` has only the settings of its own directory. */
const pnpmWorkspaceOf = (directory: string): string | undefined =>
  directoriesFrom(directory)
    .map((above) => join(above, 'pnpm-workspace.yaml'))
    .find((path) => existsSync(path) && (dirname(path) === resolve(directory) || /^packages\s*:/m.test(textOf(path))))

function npmWorkspaceAbove(directory: string): string | undefined {
  const root = directoriesFrom(dirname(resolve(directory))).find((above) => hasMember(above, resolve(directory)))
  return root && join(root, 'package.json')
}

/** Returns whether a directory matches one of the workspaces in the package.json of another one, such as `packages/*`. */
function hasMember(root: string, directory: string): boolean {
  const { workspaces = [] } = manifestIn(root)
  const name = relative(root, directory).replaceAll('\\', '/')
  return [workspaces.packages ?? workspaces].flat().some((pattern: string) => {
    const escaped = pattern.replace(/^\.\/|\/$/g, '').replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    return new RegExp(`^${escaped.replace(/\*+/g, (stars) => (stars === '*' ? '[^/]*' : '.*'))}$`).test(name)
  })
}

/** Returns what a file of settings lacks; undefined if it mentions esbuild. */
export function missingSettings(manager: PackageManager, file: string): string | undefined {
  if (textOf(file).includes('esbuild')) return undefined
  return manager === 'pnpm' ? 'allowBuilds: { esbuild: false }' : '"allowScripts": { "esbuild": false }'
}

const textOf = (path: string): string => readFileSync(path, 'utf8')

/**
 * Packages that support Node 20, by `PARENT>NAME`: the newer ones that these parents ask for do not, so package managers
 * would warn. npm prefers a version of strip-json-comments that supports the running Node; pnpm does not.
 */
const cookie = '1.1.1'
const stripJsonComments = '5.0.3'

/** The part of package.json that only npm reads. esbuild works without its install script, for which npm would ask. */
export const npmSettings = {
  overrides: { 'light-my-request': { cookie } },
  allowScripts: { esbuild: false },
}

/** The text of pnpm-workspace.yaml, which has what `npmSettings` says. */
export const pnpmSettings = `# esbuild works without its install script.
allowBuilds:
  esbuild: false
overrides:
  light-my-request>cookie: ${cookie}
  pino-pretty>strip-json-comments: ${stripJsonComments}
`
