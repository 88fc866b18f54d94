import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { commandLine } from './system/command-line.ts'

commandLine(`npx tsx scripts/sbom.ts

Writes the software bill of materials, dist/sbom.cdx.json, in CycloneDX format: each runtime package of the lock file
with its version, hash and license, without packages for development. Most of these packages are inside the bundle,
where a scanner that looks for packages cannot find them.
`)

const target = join('dist', 'sbom.cdx.json')

const { devDependencies: _, workspaces: __, ...manifest } = JSON.parse(await readFile('package.json', 'utf8'))
const lock = JSON.parse(await readFile('package-lock.json', 'utf8'))
// Packages of the workspace, which are for development only, depend on the tools as if for production, so the lock does
// not mark these as `dev`. npm ls follows the dependencies of this project alone. --omit=dev of npm sbom would drop
// packages that development also needs, such as ajv.
const listing = ['ls', '--all', '--omit=dev', '--workspaces=false', '--package-lock-only', '--parseable']
const { stdout: listed } = await promisify(execFile)('npm', listing, { maxBuffer: 2 ** 28 })
const used = new Set(listed.split('\n').map((path) => relative('', path).replaceAll('\\', '/')))
const packages = Object.entries<object>(lock.packages).filter(([path]) => path !== '' && used.has(path))
const production = { ...lock, packages: { '': manifest, ...Object.fromEntries(packages) } }

const directory = await mkdtemp(join(tmpdir(), 'sbom-'))
try {
  // npm names the project after its directory.
  const project = join(directory, manifest.name)
  await mkdir(project)
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest))
  await writeFile(join(project, 'package-lock.json'), JSON.stringify(production))
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only']
  const { stdout } = await promisify(execFile)('npm', args, { cwd: project, maxBuffer: 2 ** 28 })
  await mkdir('dist', { recursive: true })
  await writeFile(target, stdout)
  console.log(`wrote ${target}`)
} finally {
  await rm(directory, { recursive: true })
}
