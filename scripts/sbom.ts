import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { commandLine } from './system/command-line.ts'

commandLine(`npm run sbom

Writes the software bill of materials, dist/sbom.cdx.json, in CycloneDX: what the lock file says that the service is
made of, each package with its version, hash and licence, and none that only its development needs. Almost all of
them are in the bundle, where a scanner that looks for packages finds none.
`)

const target = join('dist', 'sbom.cdx.json')

const { devDependencies: _, ...manifest } = JSON.parse(await readFile('package.json', 'utf8'))
const lock = JSON.parse(await readFile('package-lock.json', 'utf8'))
const packages = Object.entries<{ dev?: boolean }>(lock.packages).filter(([path, { dev }]) => path !== '' && !dev)
const production = { ...lock, packages: { '': manifest, ...Object.fromEntries(packages) } }

const directory = await mkdtemp(join(tmpdir(), 'sbom-'))
try {
  // npm calls the service by its directory; and with --omit=dev it leaves out what development needs, too, such as pg.
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
