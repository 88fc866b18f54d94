import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { copyProject } from '../support/project-copy.ts'
import { version } from './documented-configuration.ts'

type Component = { name: string; version: string; purl: string; hashes?: object[]; licenses?: object[] }
type Bill = { bomFormat: string; specVersion: string; metadata: { component: Component }; components: Component[] }

const project = copyProject(t)
cpSync('package-lock.json', join(project, 'package-lock.json'))
for (const script of ['build', 'sbom'])
  execFileSync('npx', ['tsx', `scripts/${script}.ts`], { cwd: project, stdio: ['ignore', 'ignore', 'pipe'] })
const text = readFileSync(join(project, 'dist', 'sbom.cdx.json'), 'utf8')
const bill: Bill = JSON.parse(text)

type Locked = { version: string; dependencies?: object; optionalDependencies?: object; peerDependencies?: object }

/** Returns the packages that the lock file resolves from the dependencies of the project, as Node.js looks them up. */
function productionPackages(packages: Record<string, Locked>): Set<string> {
  const found = new Map<string, Locked>()
  const follow = (from: string): void => {
    const { dependencies, optionalDependencies, peerDependencies } = packages[from] as Locked
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const path = lookedUp(from, name)
      if (path === undefined || found.has(path)) continue
      found.set(path, packages[path] as Locked)
      follow(path)
    }
  }
  function lookedUp(from: string, name: string): string | undefined {
    const path = `${from === '' ? '' : `${from}/`}node_modules/${name}`
    if (path in packages) return path
    return from === '' ? undefined : lookedUp(from.slice(0, Math.max(0, from.lastIndexOf('node_modules/') - 1)), name)
  }
  follow('')
  return new Set(Array.from(found, ([path, { version }]) => `${path.replace(/^.*node_modules\//, '')} ${version}`))
}

t.test('the SBOM is CycloneDX and names no local path', async (t) => {
  t.equal(bill.bomFormat, 'CycloneDX')
  t.match(bill.specVersion, /^1\.\d$/)
  t.match(bill.metadata.component, { type: 'application', name: 'plant-store' })
  t.equal(bill.metadata.component.purl, `pkg:npm/plant-store@${version}`)
  for (const { name, purl, hashes, licenses } of bill.components) {
    t.match(purl, /^pkg:npm\/[^?#]+@[^?#]+$/, `the purl of ${name} names no registry`)
    t.ok(hashes?.length && licenses?.length, `${name} has a hash and a license`)
  }
  const { homepage } = JSON.parse(readFileSync('package.json', 'utf8'))
  const known = new Set(['http://cyclonedx.org', ...(homepage === undefined ? [] : [new URL(homepage).origin])])
  t.same(new Set(text.match(/https?:\/\/[^/"]+/g)), known, 'it names no other host than that of the repository')
})

t.test('the SBOM lists exactly the production packages', async (t) => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const listed = bill.components.map(({ name, version }) => `${name} ${version}`)
  t.same(listed.sort(), [...productionPackages(packages)].sort())
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  for (const [name, version] of Object.entries({ ...dependencies, ...optionalDependencies }))
    t.ok(listed.includes(`${name} ${version}`), name)
})

t.test('every bundled package is in the SBOM', async (t) => {
  const files = readdirSync(join(project, 'dist'), { recursive: true, encoding: 'utf8' })
  const bundled = files
    .filter((file) => file.endsWith('.js'))
    .map((file) => readFileSync(join(project, 'dist', file), 'utf8'))
    // esbuild writes the path of each module into a comment.
    .flatMap((code) =>
      Array.from(code.matchAll(/^\s*\/\/ \S*node_modules\/((?:@[\w.-]+\/)?[\w.-]+)/gm), ([, name]) => name),
    )
  t.ok(bundled.includes('fastify'))
  const names = new Set<string | undefined>(bill.components.map(({ name }) => name))
  t.same(
    bundled.filter((name) => !names.has(name)),
    [],
  )
})
