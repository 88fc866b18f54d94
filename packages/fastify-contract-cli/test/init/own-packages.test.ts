import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import manifest from '../../package.json' with { type: 'json' }
import { isFromRegistry, ownPackages, packInto } from '../../src/init/own-packages.ts'

const name = 'commands'
const own = join('node_modules', name, 'cli.js')

/** The files of a package, whose command is cli.js. */
const installed = {
  'package.json': JSON.stringify({ name, dependencies: { engine: 'file:engine.tgz' } }),
  'cli.js': '',
}

const versions = {
  '^1.0.0': true,
  latest: true,
  '': true,
  'catalog:': true,
  'file:../commands.tgz': false,
  'https://example.com/commands.tgz': false,
  'link:../commands': false,
  'workspace:*': false,
  'owner/repository': false,
}

for (const [version, expected] of Object.entries(versions))
  t.test(`"${version}" is ${expected ? '' : 'not '}of a registry`, async (t) => {
    for (const field of ['dependencies', 'devDependencies']) {
      const directory = t.testdir({
        'package.json': JSON.stringify({ [field]: { [name]: version, other: '^1.0.0' } }),
        node_modules: { [name]: installed, '.bin': {} },
      })
      const command = join(directory, 'node_modules', '.bin', name)
      symlinkSync(join(directory, own), command)
      // npm runs a link, pnpm 10 a file of a linked directory.
      for (const path of [command, join(directory, own)])
        t.equal(isFromRegistry(name, join(directory, 'node_modules', name), path), expected)
    }
  })

t.test("a package in pnpm's store is found by its link, and one beside the package that needs it", async (t) => {
  const directory = t.testdir({
    project: { 'package.json': JSON.stringify({ dependencies: { [name]: '^1.0.0' } }), node_modules: {} },
    store: {
      node_modules: {
        [name]: installed,
        create: { 'package.json': JSON.stringify({ dependencies: { [name]: '~1.0.0' } }), 'create.js': '' },
      },
    },
  })
  const stored = join(directory, 'store', 'node_modules', name)
  symlinkSync(stored, join(directory, 'project', 'node_modules', name))
  t.equal(isFromRegistry(name, stored, join(directory, 'project', own)), true)
  t.equal(isFromRegistry(name, stored, join(stored, '..', 'create', 'create.js')), true)
  t.equal(isFromRegistry(name, stored, join(stored, 'cli.js')), false, 'a global installation')
})

t.test('a manifest above that installs another copy decides nothing', async (t) => {
  const directory = t.testdir({
    'package.json': JSON.stringify({ devDependencies: { [name]: '1.0.0' } }),
    node_modules: { [name]: installed },
    dist: { [name]: { ...installed } },
  })
  const built = join(directory, 'dist', name)
  t.equal(isFromRegistry(name, built, join(built, 'cli.js')), false)
})

t.test('in this repository, a project gets the versions of the packages', async (t) => {
  const version = `^${manifest.version}`
  t.same(ownPackages(import.meta.filename), { engine: { version }, commands: { version } })
})

t.test('commands that no registry has are packed into the project, with the engine', async (t) => {
  // Outside of this repository, whose package.json names the commands.
  const directory = mkdtempSync(join(tmpdir(), 'packages-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  const project = join(directory, 'project')
  mkdirSync(project)
  writeFileSync(join(directory, 'cli.js'), '')
  const { engine, commands } = ownPackages(join(directory, 'cli.js'))
  for (const [{ version, to, directory }, name] of [
    [engine, 'fastify-contract'],
    [commands, 'fastify-contract-cli'],
  ] as const) {
    t.same([version, to], [`file:${to}`, `vendor/${name}-${manifest.version}.tgz`])
    t.equal(JSON.parse(readFileSync(join(String(directory), 'package.json'), 'utf8')).name, name)
  }
  await packInto(project, [{ version: '^1.0.0' }])
  t.same(readdirSync(project), [])
  const small = join(directory, 'small')
  mkdirSync(small)
  const scripts = { prepack: 'exit 1' }
  const packed = {
    name: 'small',
    version: '1.2.3',
    scripts,
    bundleDependencies: ['engine'],
    dependencies: { engine: '*' },
  }
  writeFileSync(join(small, 'package.json'), JSON.stringify(packed))
  for (const name of ['engine', 'other', '.bin']) {
    mkdirSync(join(small, 'node_modules', name), { recursive: true })
    writeFileSync(join(small, 'node_modules', name, 'package.json'), JSON.stringify({ name, version: '1.0.0' }))
  }
  const given = { version: 'file:vendor/small-1.2.3.tgz', to: 'vendor/small-1.2.3.tgz', directory: small }
  await packInto(project, [given])
  const { stdout } = await promisify(execFile)('tar', ['tzf', join(project, given.to)])
  const files = ['package/node_modules/engine/package.json', 'package/package.json']
  t.same(stdout.trim().split('\n').sort(), files, 'what is bundled, not what is installed; no script ran')
  const { PATH } = process.env
  t.teardown(() => {
    process.env.PATH = PATH
  })
  process.env.PATH = project
  await t.rejects(packInto(project, [given]), {
    message: /^init: npm cannot pack \S+small; correct the cause\nspawn npm ENOENT$/,
  })
  t.notOk(existsSync(join(project, 'node_modules')))
})
