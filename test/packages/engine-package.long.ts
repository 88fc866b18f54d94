import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Script } from 'node:vm'
import { createPackageFromTarballData } from '@arethetypeswrong/core'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import t from 'tap'
import { writePackage } from '../../scripts/build/packages.ts'

const execute = promisify(execFile)

// An empty folder outside of the repository, so that Node cannot find the sources of the package.
const directory = mkdtempSync(join(tmpdir(), 'fastify-contract-'))
t.teardown(() => rmSync(directory, { recursive: true }))
const source = join(directory, 'source')
await writePackage('fastify-contract', source)
await execute('npm', ['pack', '--silent', '--pack-destination', directory], { cwd: source })
const { name, version, dependencies, peerDependencies, exports, bin } = JSON.parse(
  readFileSync(join(source, 'package.json'), 'utf8'),
)
const contents = createPackageFromTarballData(readFileSync(join(directory, `${name}-${version}.tgz`)))
const project = join(directory, 'project')
for (const path of contents.listFiles()) write(join(project, path), contents.readFile(path))
for (const other of Object.keys({ ...dependencies, ...peerDependencies, '@types/node': '', pino: '' })) {
  const link = join(project, 'node_modules', other)
  mkdirSync(dirname(link), { recursive: true })
  symlinkSync(resolve('node_modules', other), link)
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
const readme = readFileSync(join(source, 'README.md'), 'utf8')
const clientPage = readFileSync(join(source, 'docs', 'client.md'), 'utf8')
const modules = Array.from(
  (readme + clientPage).matchAll(/^```\w+\n(?:\/\/|#) (\S+\.(?:ts|yaml))\n(.*?)^```$/gms),
  ([, path = '', text = '']) => ({ path, text }),
)
for (const [path, text] of Object.entries(files)) write(join(project, path), text)
for (const { path, text } of modules) write(join(project, path), text)

t.test('the package holds built modules, and an export for each entry', async (t) => {
  const paths = contents.listFiles().map((path) => path.slice(`/node_modules/${name}/`.length))
  t.same(paths.filter((path) => !/^(dist|docs|examples)\//.test(path)).sort(), ['LICENSE', 'README.md', 'package.json'])
  t.same(
    paths.filter((path) => /^dist\/.*(?<!\.d)\.ts$/.test(path)),
    [],
    'no sources',
  )
  for (const page of paths.filter((path) => path.endsWith('.md'))) {
    for (const [, link = ''] of readFileSync(join(source, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
      t.ok(existsSync(join(source, page, '..', link)), `${page}: ${link}`)
    }
  }
  for (const { types, default: module } of Object.values<{ types: string; default: string }>(exports)) {
    for (const path of [types, module]) t.ok(existsSync(join(source, path)), path)
  }
})

t.test('a project in an empty folder generates, compiles and serves a document by the README', async (t) => {
  t.same(
    modules.map(({ path }) => path),
    ['openapi.yaml', 'error-body.ts', 'server.ts', 'client.ts'],
  )
  const [, generate = ''] = /^npx fastify-contract (generate .*)$/m.exec(readme) ?? []
  // npm links the command of a package to the file that its manifest names.
  const cli = join(project, 'node_modules', name, bin)
  t.match(readFileSync(cli, 'utf8'), /^#!\/usr\/bin\/env node\n/)
  const { stdout } = await execute(process.execPath, [cli, ...generate.split(' ')], { cwd: project })
  t.match(stdout, /async getPet\(/, 'a stub of the handler')
  t.match(stdout, /wrote .*generated\/routes\.json/)
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
  const service = spawnProcess([process.execPath, '--import=tsx', 'start.ts'], {
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
  const { stdout: called } = await execute(process.execPath, ['--import=tsx', 'call.ts'], { cwd: project })
  t.equal(called, 'Tom\n')
  const rejected = await fetch(url)
  t.equal(rejected.status, 401)
  t.equal(rejected.headers.get('www-authenticate'), 'Bearer realm="Pets"')
  t.match(await rejected.json(), { code: 401, message: /token/ })
})
