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
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Script } from 'node:vm'
import { type Analysis, checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import t from 'tap'
import { packages, writePackages } from '../scripts/build/packages.ts'

const execute = promisify(execFile)

/** Runs TypeScript modules on a Node that does not strip types. */
const loader = Object(process.features).typescript === 'strip' ? [] : ['--import=tsx']

// An empty folder outside of the repository, so that Node cannot find the sources of the packages.
const directory = mkdtempSync(join(tmpdir(), 'packages-'))
t.teardown(() => rmSync(directory, { recursive: true }))
const project = join(directory, 'project')
const modules = join(project, 'node_modules')
await writePackages(directory)
const manifests = new Map(await Promise.all(packages.map(packed)))
const [engine, commands] = packages as [string, string]
for (const name of [
  '@types/node',
  'pino',
  ...[...manifests.values()].flatMap(({ dependencies }) => Object.keys(dependencies)),
])
  if (!packages.includes(name) && !existsSync(join(modules, name))) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(resolve('node_modules', name), join(modules, name))
  }

/** Packs a package, installs it in the project, and returns its name with its manifest. */
async function packed(name: string): Promise<[name: string, manifest: Manifest]> {
  const source = join(directory, name)
  await execute('npm', ['pack', '--silent', '--pack-destination', directory], { cwd: source })
  const contents = contentsOf(name)
  for (const path of contents.listFiles()) write(join(project, path), contents.readFile(path))
  return [name, JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'))]
}

type Manifest = Record<'dependencies' | 'bin', Record<string, string>> &
  Record<'private' | 'scripts', unknown> & {
    exports?: Record<string, Record<string, string>>
    peerDependencies?: object
    peerDependenciesMeta?: Record<string, { optional?: boolean }>
  }

/** Returns the paths of the files of a package. */
const pathsOf = (name: string): string[] =>
  contentsOf(name)
    .listFiles()
    .map((path) => path.slice(`/node_modules/${name}/`.length))

function contentsOf(name: string) {
  return createPackageFromTarballData(readFileSync(join(directory, `${name}-0.1.0.tgz`)))
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** The files of a project, as the README of the package shows them. */
const files = {
  'package.json': '{"type":"module"}',
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      strict: true,
      target: 'ES2022',
      module: 'NodeNext',
      resolveJsonModule: true,
      allowImportingTsExtensions: true,
      noEmit: true,
    },
  }),
}
const readme = readFileSync(join(modules, engine, 'README.md'), 'utf8')
const clientPage = readFileSync(join(modules, engine, 'docs', 'client.md'), 'utf8')
const shown = Array.from(
  (readme + clientPage).matchAll(/^```\w+\n(?:\/\/|#) (\S+\.(?:ts|yaml))\n(.*?)^```$/gms),
  ([, path = '', text = '']) => ({ path, text }),
)
for (const [path, text] of Object.entries(files)) write(join(project, path), text)
for (const { path, text } of shown) write(join(project, path), text)

for (const name of packages) {
  t.test(`${name} holds built modules, and an export for each entry`, async (t) => {
    const installed = join(modules, name)
    const contents = pathsOf(name)
    const paths = contents.filter((path) => !path.startsWith('node_modules/'))
    const bundled = name === commands ? pathsOf(engine).map((path) => `node_modules/${engine}/${path}`) : []
    t.same(contents.filter((path) => !paths.includes(path)).sort(), bundled.sort())
    t.same(paths.filter((path) => !/^(dist|docs|examples)\//.test(path)).sort(), [
      'LICENSE',
      'README.md',
      'package.json',
    ])
    t.same(
      paths.filter((path) => /^dist\/.*(?<!\.d)\.ts$/.test(path)),
      [],
      'no sources',
    )
    for (const page of paths.filter((path) => path.endsWith('.md')))
      for (const [, link = ''] of readFileSync(join(installed, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g))
        t.ok(existsSync(join(installed, page, '..', link)), `${page}: ${link}`)
    const { exports = {}, bin = {}, ...manifest } = manifests.get(name) as Manifest
    for (const path of [...Object.values(exports).flatMap(Object.values), ...Object.values(bin)])
      t.ok(existsSync(join(installed, path)), path)
    const { peerDependencies = {}, peerDependenciesMeta = {} } = manifest
    const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true)
    t.same([manifest.private, manifest.scripts, peers], [undefined, undefined, []])
  })

  const { exports } = manifests.get(name) as Manifest
  // A package with only a command has no types.
  const skip = exports === undefined
  t.test(`the types of ${name} resolve under every ES module resolution`, { skip }, async (t) => {
    const { problems, entrypoints } = (await checkPackage(contentsOf(name))) as Analysis
    t.same(Object.keys(entrypoints), Object.keys(exports ?? {}))
    const kinds = problems.map((problem) => `${problem.kind} ${'resolutionKind' in problem && problem.resolutionKind}`)
    // The package has no CommonJS, and the resolution of Node 10 does not read exports.
    const others = ['NoResolution node10', 'CJSResolvesToESM node16-cjs']
    t.same(
      kinds.filter((kind) => !others.includes(kind)),
      [],
    )
  })

  t.test(`the sources of ${name} cannot be published`, async (t) => {
    await t.rejects(execute('npm', ['publish', '--dry-run'], { cwd: join('packages', name) }), /These are sources\./)
  })
}

/** The disk space in KiB that the README of each package states at most. */
const installedSize = { [engine]: 30_000, [commands]: 115_000 }

/** Returns the packages that an installation of a package has, without those of other platforms. */
function neededBy(name: string): Set<string> {
  const { packages: locked } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const needed = new Set([name])
  // Iteration over a Set includes the elements that are added meanwhile.
  for (const name of needed) {
    const own = packages.includes(name) ? `packages/${name}` : `node_modules/${name}`
    const { dependencies = {}, optionalDependencies = {} } = locked[own]
    for (const other of Object.keys({ ...dependencies, ...optionalDependencies }))
      if (existsSync(resolve('node_modules', other))) needed.add(other)
  }
  return needed
}

/** Returns the disk space of a package with all that it needs, in KiB. */
async function sizeOf(name: string): Promise<number> {
  const folders = Array.from(neededBy(name), (other) =>
    packages.includes(other) ? join(modules, other) : resolve('node_modules', other),
  )
  const { stdout } = await execute('du', ['-sk', '--total', ...folders])
  const [, size] = /^(\d+)\ttotal$/m.exec(stdout) ?? []
  return Number(size)
}

t.test('fastify-contract alone needs no compiler', async (t) => {
  const needed = neededBy(engine)
  for (const name of ['typescript', 'openapi-typescript', '@redocly/cli', 'esbuild', 'tsx', commands])
    t.notOk(needed.has(name), name)
})

for (const [name, most] of Object.entries(installedSize))
  t.test(`${name} needs as little space as its README says`, async (t) => {
    const size = await sizeOf(name)
    t.ok(size > most / 2 && size < most, `${size} KiB`)
  })

t.test('the commands analyze a pattern without another package', async (t) => {
  t.notOk(existsSync(join(modules, 'recheck')))
  t.match(
    readFileSync(join(modules, commands, 'dist', 'recheck.cjs'), 'utf8'),
    /^\/\/ recheck\/lib\/browser\.js of version 4/,
  )
  t.match(readFileSync(join(modules, commands, 'dist', 'recheck.LICENSE'), 'utf8'), /^MIT License/)
  const type = "{ type: object, patternProperties: { '^(a+)+$': true } }"
  write(
    join(project, 'steep', 'openapi.yaml'),
    `openapi: 3.1.0
info: { title: Pets, version: 1.0.0 }
paths:
  /pets:
    post:
      operationId: createPet
      requestBody: { content: { application/json: { schema: ${type} } } }
      responses: { 200: { description: A pet } }
`,
  )
  const cli = join(modules, commands, manifests.get(commands)?.bin['fastify-contract'] as string)
  const generating = execute(process.execPath, [cli, 'generate', 'openapi.yaml'], { cwd: join(project, 'steep') })
  await t.rejects(generating, /\^\(a\+\)\+\$ takes more than quadratic time/)
})

t.test('the commands are few files, which hold each module of both packages once, and no other package', (t) => {
  const sources = join('packages', commands, 'src')
  const built = pathsOf(commands).filter((path) => /^dist\/.*\.js$/.test(path))
  t.ok(built.length < 120, `${built.length} files`)
  // Other programs load the modules in JavaScript, so these hold what they import.
  const shared = built.filter((path) => !existsSync(join(sources, path.slice('dist/'.length))))
  // esbuild names a module at each of its parts.
  const modulesIn = (path: string) => {
    const names = readFileSync(join(modules, commands, path), 'utf8').matchAll(/^\/\/ (\S+\.[cm]?[jt]s)$/gm)
    return [...new Set(Array.from(names, ([, name = '']) => name))]
  }
  const held = shared.flatMap(modulesIn)
  t.ok(held.includes(`${sources}/emit/compile.ts`))
  t.ok(held.includes(`packages/${engine}/src/contract/routes.ts`))
  t.same(
    held.filter((path, index) => held.indexOf(path) !== index),
    [],
  )
  t.same(
    built.flatMap(modulesIn).filter((path) => !path.startsWith('packages/')),
    [],
  )
  t.end()
})

t.test('a project in an empty folder generates, compiles and serves a document by the README', async (t) => {
  t.same(
    shown.map(({ path }) => path),
    ['openapi.yaml', 'error-body.ts', 'server.ts', 'client.ts'],
  )
  const [, generate = ''] = /^npx fastify-contract (generate .*)$/m.exec(readme) ?? []
  // npm links the command of a package to the file that its manifest names.
  const cli = join(modules, commands, manifests.get(commands)?.bin['fastify-contract'] as string)
  t.match(readFileSync(cli, 'utf8'), /^#!\/usr\/bin\/env node\n/)
  const { stdout } = await execute(process.execPath, [cli, ...generate.split(' ')], { cwd: project })
  t.match(stdout, /async getPet\(/, 'a stub of the handler')
  t.match(stdout, /wrote .*generated\/contract\.mjs/)
  const { stdout: diagnostics } = await execute(process.execPath, [resolve('node_modules/.bin/tsc')], {
    cwd: project,
  }).catch((error: { stdout: string }) => error)
  t.equal(diagnostics, '')
  await execute(process.execPath, [cli, 'docs', '--out', 'site'], { cwd: project })
  const [, script = ''] =
    /<script>(.*?)<\/script>/s.exec(readFileSync(join(project, 'site', 'index.html'), 'utf8')) ?? []
  t.match(script, 'Try it')
  t.doesNotThrow(() => new Script(script), 'a classic script, not a module')
  write(join(project, 'server.ts'), readFileSync(join(project, 'server.ts'), 'utf8').replace('port: 3000', 'port: 0'))
  write(join(project, 'start.ts'), "import { app } from './server.ts'\nconsole.log('on', app.server.address().port)")
  write(
    join(project, 'server.ts'),
    readFileSync(join(project, 'server.ts'), 'utf8').replace('const app', 'export const app'),
  )
  const token = 'a-token-of-the-tests-0123456789-abcdef'
  const service = spawnProcess([process.execPath, ...loader, 'start.ts'], {
    cwd: project,
    env: { ACCESS_TOKENS: token },
  })
  t.teardown(() => service.signal('SIGKILL'))
  const [, port] = await service.find('stdout', /on (\d+)/)
  const url = `http://127.0.0.1:${port}/pets/9007199254740993`
  const pet = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  t.same([pet.status, await pet.text()], [200, '{"id":9007199254740993,"name":"Tom"}'])
  const [, call = ''] = /^```ts\n(import \{ createClient \}.*?)^```$/ms.exec(clientPage) ?? []
  write(join(project, 'call.ts'), call.replace(':3000', `:${port}`).replace('<ACCESS_TOKEN>', token))
  const { stdout: called } = await execute(process.execPath, [...loader, 'call.ts'], { cwd: project })
  t.equal(called, 'Tom\n')
  const rejected = await fetch(url)
  t.equal(rejected.status, 401)
  t.equal(rejected.headers.get('www-authenticate'), 'Bearer realm="Pets"')
  t.match(await rejected.json(), { code: 401, message: /token/ })
})

t.test(
  'the commands, which hold a second copy of the engine, test the secured operations of an application',
  async (t) => {
    // The copy of the commands must reach the verifiers of the application.
    const own = join(project, 'secured')
    const responses =
      '{ 200: { description: The client, content: { application/json: { schema: { type: string } } } } }'
    const operation = (scheme: string) =>
      `  /${scheme}: { get: { operationId: ${scheme}, security: [{ ${scheme}: [] }], responses: ${responses} } }\n`
    const scheme = (name: string) => `    ${name}: { type: http, scheme: bearer }\n`
    write(
      join(own, 'openapi.yaml'),
      `openapi: 3.1.0
info: { title: Secured, version: 1.0.0 }
paths:
${operation('listed')}${operation('signed')}components:
  securitySchemes:
${scheme('listed')}${scheme('signed')}`,
    )
    write(join(own, 'package.json'), '{"type":"module","fastify-contract":{"document":"openapi.yaml"}}')
    write(
      join(own, 'app.mjs'),
      `import { bearer, createServer, listVerifier } from 'fastify-contract'
import { jwtVerifier } from 'fastify-contract/jwt'
import { contract } from './generated/contract.mjs'

const issuer = 'https://issuer.invalid'
const respond = async ({ client }) => ({ status: 200, body: client.name })
export const createApp = (_verifyToken, { limits }) =>
  createServer({
    contract,
    handlers: { listed: respond, signed: respond },
    verifiers: {
      listed: bearer(listVerifier(['a-token-of-the-tests-0123456789-abcdef'])),
      signed: bearer(jwtVerifier({ issuer, jwksUrl: issuer + '/keys', audience: 'https://plants.example' })),
    },
    errorBody: ({ message }) => ({ contentType: 'text/plain', body: message }),
    limits,
  })
`,
    )
    const cli = join(modules, commands, manifests.get(commands)?.bin['fastify-contract'] as string)
    t.ok(existsSync(join(modules, commands, 'node_modules', engine)), 'the copy of the commands')
    await execute(process.execPath, [cli, 'generate'], { cwd: own })
    const words = ['test', '--app', 'app.mjs', '--off', 'documented-status,documented-media-type', '--json']
    const { stdout } = await execute(process.execPath, [cli, ...words], { cwd: own }).catch(
      (error: { stdout: string }) => error,
    )
    const { operations, failures } = JSON.parse(stdout)
    t.same(failures, [])
    for (const { operationId, untested } of operations) t.equal(untested, null, operationId)
    t.same(operations.map((one: { operationId: string }) => one.operationId).sort(), ['listed', 'signed'])
  },
)

t.test('generate runs again after a change of its code', async (t) => {
  const cli = join(modules, commands, manifests.get(commands)?.bin['fastify-contract'] as string)
  const generate = async () =>
    (await execute(process.execPath, [cli, 'generate', 'openapi.yaml'], { cwd: project })).stdout
  await generate()
  t.equal(await generate(), 'up to date\n')
  const chunks = join(modules, commands, 'dist', 'chunks')
  const isWriter = (path: string) => readFileSync(path, 'utf8').includes('Written by fastify-contract')
  const writer = readdirSync(chunks, { encoding: 'utf8' })
    .map((name) => join(chunks, name))
    .find(isWriter) as string
  const text = readFileSync(writer, 'utf8')
  t.teardown(() => writeFileSync(writer, text))
  writeFileSync(writer, text.replaceAll('Written by fastify-contract', 'Written by the changed fastify-contract'))
  t.match(await generate(), /wrote .*generated\/contract\.mjs/)
  t.match(readFileSync(join(project, 'generated', 'contract.mjs'), 'utf8'), 'Written by the changed fastify-contract')
})
