import { execFileSync } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import packageFile from '../../../package.json' with { type: 'json' }
import { packages, writePackages } from '../../build/packages.ts'
import { octokit } from './real-documents.ts'

/** A directory with the packages as users install them, and with what they are compared to. */
export type Commands = {
  directory: string
  /** The module of `fastify-contract`. */
  own: string
  /** The module of `openapi-typescript`. */
  peer: string
}

/** Builds and packs the packages, and installs them and their peers into dist/benchmark/commands. */
export async function installCommands(): Promise<Commands> {
  const directory = resolve('dist', 'benchmark', 'commands')
  const packed = join(directory, 'packed')
  await rm(join(directory, 'projects'), { recursive: true, force: true })
  await mkdir(packed, { recursive: true })
  await writePackages(packed)
  const files = packages.map((name) => {
    const [file = ''] = npm(join(packed, name), 'pack', '--silent', '--pack-destination', packed).split('\n')
    return [name, `file:${join(packed, file)}`]
  })
  const { 'openapi-typescript': types, typescript, '@types/node': node } = packageFile.devDependencies
  const peers = { 'openapi-typescript': types, typescript, '@types/node': node, [octokit.name]: octokit.version }
  const manifest = join(directory, 'package.json')
  const write = (dependencies: object) => writeFile(manifest, JSON.stringify({ private: true, dependencies }))
  await write({ ...Object.fromEntries(files), ...peers })
  // The files of packages keep their names while their contents change, which a lock file would reject.
  await rm(join(directory, 'node_modules', '.package-lock.json'), { force: true })
  npm(directory, 'install', '--no-package-lock', '--prefer-offline', '--no-audit', '--no-fund')
  // The commands pack themselves for a project of `init` if they are not from a registry, as those of users are.
  const versions = packages.map(async (name) => [name, await versionIn(join(packed, name))])
  await write({ ...Object.fromEntries(await Promise.all(versions)), ...peers })
  const moduleOf = (...path: string[]) => join(directory, 'node_modules', ...path)
  return {
    directory,
    own: moduleOf('fastify-contract-cli', 'dist', 'cli.js'),
    peer: moduleOf('openapi-typescript', 'bin', 'cli.js'),
  }
}

const versionIn = async (directory: string): Promise<string> =>
  JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')).version

const npm = (cwd: string, ...args: string[]): string => execFileSync('npm', args, { cwd, encoding: 'utf8' }).trim()
