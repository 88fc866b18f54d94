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
  const locked = Object.entries<{ version: string; dev?: boolean; link?: boolean }>(packages)
    .filter(([path, { dev, link }]) => path.startsWith('node_modules/') && dev !== true && link !== true)
    .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')} ${version}`)
  const listed = bill.components.map(({ name, version }) => `${name} ${version}`)
  t.same(listed.sort(), [...new Set(locked)].sort())
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
