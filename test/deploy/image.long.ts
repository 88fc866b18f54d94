import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { sqliteSkipReason } from '../support/sqlite.ts'
import { environmentOf, of, readDockerfile, type Stage } from './dockerfile.ts'
import { assertKnownVariables, configuration, version } from './documented-configuration.ts'
import { buildImageDirectory } from './image-directory.ts'

const stages = readDockerfile()
const image = stages.at(-1) as Stage
const user = Number(/^(\d+):\1$/.exec(of(image, 'USER')[0] ?? '')?.[1])

t.test('the image has the documented content', async (t) => {
  const [, major] = /^node:(\d+)\.\d+\.\d+-\w+-slim$/.exec(image.base) ?? []
  t.equal(`${major}\n`, readFileSync('.nvmrc', 'utf8'))
  t.same(new Set(stages.map(({ base }) => base)).size, 1, 'both stages have the same Node and Debian')
  t.ok(user > 0, 'the user is numeric and not root')
  t.match(of(image, 'LABEL')[0], `org.opencontainers.image.version="${version}"`)
  t.same(of(image, 'EXPOSE'), [configuration.get('PORT')])
  t.same(of(image, 'RUN'), [], 'the last stage runs nothing')
  t.equal(environmentOf(image).STORE_URL, `sqlite:${of(image, 'VOLUME')[0]}/plants.db`)
  t.match(of(image, 'HEALTHCHECK')[0], /^CMD \["node", /)
  assertKnownVariables(t, Object.keys(environmentOf(image)))
  const names = stages.flatMap((stage) => [...Object.keys(environmentOf(stage)), ...of(stage, 'ARG')])
  t.notMatch(names.join(), /token|password|secret/i)
})

t.test('the build context holds only copied files', async (t) => {
  const [first, ...others] = readFileSync('.dockerignore', 'utf8')
    .replace(/^#.*\n/, '')
    .trim()
    .split('\n')
  const allowed = others.filter((line) => line.startsWith('!'))
  t.equal(first, '*')
  const copied = stages.flatMap(({ instructions }) =>
    instructions
      .filter(({ name, flags }) => name === 'COPY' && flags.from === undefined)
      .flatMap(({ rest }) => rest.split(/\s+/).slice(0, -1)),
  )
  for (const path of copied) t.ok(existsSync(path), `${path} exists`)
  const isIn = (path: string, root: string) => path === root || path.startsWith(`${root}/`)
  for (const path of copied)
    t.ok(
      allowed.some((line) => isIn(path, line.slice(1))),
      `${path} is not ignored`,
    )
  for (const line of allowed)
    t.ok(
      copied.some((path) => isIn(path, line.slice(1))),
      `${line} is used`,
    )
})

t.test(
  'the image creates tokens and serves as its user on a read-only file system, and exits at SIGTERM',
  { skip: sqliteSkipReason },
  async (t) => {
    const root = buildImageDirectory(t)
    const directory = join(root, of(image, 'WORKDIR')[0] as string)
    t.notOk(existsSync(join(directory, 'node_modules')), 'the bundle contains all packages')
    const data = join(root, of(image, 'VOLUME')[0] as string)
    chmodSync(data, 0o700)
    const identity = otherUser(t, data)
    const [command, ...entrypoint] = JSON.parse(of(image, 'ENTRYPOINT')[0] as string)
    t.equal(command, 'node')
    const variables = {
      ...environmentOf(image),
      STORE_URL: `sqlite:${join(data, 'plants.db')}`,
      TOKENS_FILE: join(data, 'tokens.json'),
      HOST: '127.0.0.1',
      PORT: '0',
      MANAGEMENT_PORT: '0',
      DRAIN_TIME: '200',
      // The image's Node has SQLite. An earlier one needs the optional package.
      NODE_PATH: resolve('node_modules'),
    }
    const pairs = Object.entries(variables).map((pair) => pair.join('='))
    // env -i drops the test runner's environment variables, and then replaces itself with the command.
    const start = (args: string[]) => {
      const child = spawn('env', ['-i', ...pairs, process.execPath, ...entrypoint, ...args], {
        cwd: directory,
        ...identity,
      })
      t.teardown(() => child.kill('SIGKILL'))
      return { child, ended: once(child, 'exit') }
    }
    const made = start(['token', 'create', '--name', 'somebody'])
    const [token] = await once(createInterface(made.child.stdout), 'line')
    t.same(await made.ended, [0, null])
    const owner = identity.uid ?? process.getuid?.()
    t.match(statSync(variables.TOKENS_FILE), { uid: owner, mode: 0o100600 })

    const service = start(JSON.parse(of(image, 'CMD')[0] as string))
    const [line] = await once(createInterface(service.child.stderr), 'line')
    const [url, management = ''] = line.match(/http:[^\s,]+/g) ?? []
    t.ok(url, line)
    t.equal(await health(new URL(management).port), 0)
    for (const path of ['/readyz', '/docs']) t.equal((await fetch(new URL(path, management))).status, 200, path)
    const answer = await fetch(`${url}/plants`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"id":1,"name":"a"}',
    })
    t.equal(answer.status, 200)
    t.match(statSync(join(data, 'plants.db')), { uid: owner }, 'the plant is in the volume')
    service.child.kill('SIGTERM')
    t.same(await service.ended, [0, null])
  },
)

t.test('the health check follows /livez', async (t) => {
  let status = 200
  const asked: unknown[] = []
  const management = createServer(({ url }, response) => {
    asked.push(url)
    response.writeHead(status).end()
  }).listen(0, '127.0.0.1')
  await once(management, 'listening')
  const port = String((management.address() as AddressInfo).port)
  t.equal(await health(port), 0)
  status = 503
  t.equal(await health(port), 1)
  t.same(asked, ['/livez', '/livez'])
  management.closeAllConnections()
  management.close()
  t.equal(await health(port), 1)
})

/** Runs the image's health check against an admin server's port; resolves with its exit code. */
async function health(port: string): Promise<number> {
  const [, ...args]: string[] = JSON.parse((of(image, 'HEALTHCHECK')[0] as string).replace('CMD ', ''))
  const [code] = await once(spawn(process.execPath, args, { env: { MANAGEMENT_PORT: port } }), 'exit')
  return code
}

/** Makes the image's user the owner of the data and returns its ids for spawn; returns no ids unless run by root. */
function otherUser(t: Test, data: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) {
    t.comment("NOT RUN: as the image's user, which needs root")
    return {}
  }
  chownSync(data, user, user)
  return { uid: user, gid: user }
}
