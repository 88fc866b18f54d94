/**
 * npm run benchmark:start [-- ROUNDS]
 *
 * From spawn to the first answer: bare Fastify with one hand-written route, glue as its README wires it, and this
 * service with either store, in turns. Prints medians in milliseconds and their ratio to bare Fastify of the same run.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { newToken } from '../src/auth/tokens.ts'
import { median } from './benchmark/table.ts'
import { bundle } from './bundle.ts'

const rounds = Number(process.argv[2] ?? 15)
const token = newToken()
const directory = await mkdtemp(join(tmpdir(), 'plant-store-'))

const bare = `
  import Fastify from 'fastify'
  const properties = { name: { type: 'string' }, tag: { type: 'string' } }
  const plant = { type: 'object', required: ['name'], properties }
  const body = { type: 'object', required: ['name', 'id'], properties: { ...properties, id: { type: 'integer' } } }
  const app = Fastify()
  app.post('/plants', { schema: { body, response: { 200: plant } } }, async ({ body }) => body)
  await app.listen({ host: '127.0.0.1', port: process.env.PORT })`

const glue = `
  import Fastify from 'fastify'
  import { fastifyOpenapiGlue } from 'fastify-openapi-glue'
  const app = Fastify()
  const serviceHandlers = { createPlant: async ({ body }) => ({ name: body.name }) }
  await app.register(fastifyOpenapiGlue, { specification: 'generated/openapi.json', serviceHandlers })
  await app.listen({ host: '127.0.0.1', port: process.env.PORT })`

const service = (storeUrl: string) => ({ args: ['dist/server.js'], env: { STORE_URL: storeUrl } })
const contenders: Record<string, { args: string[]; env?: Record<string, string> }> = {
  'bare Fastify': { args: ['--input-type=module', '--eval', bare] },
  'glue by its README': { args: ['--input-type=module', '--eval', glue] },
  'this service, memory': service('memory:'),
  'this service, SQLite': service(`sqlite:${join(directory, 'plants.db')}`),
}

await bundle()
const times = new Map(Object.keys(contenders).map((name) => [name, [] as number[]]))
for (let round = 0; round < rounds; round++) {
  for (const [name, contender] of Object.entries(contenders)) times.get(name)?.push(await startTime(contender))
}
await rm(directory, { recursive: true })

const base = median(times.get('bare Fastify') as number[])
console.log(`spawn to first answer, Node ${process.versions.node}, median of ${rounds} rounds`)
for (const [name, values] of times) {
  const ms = median(values)
  console.log(`${name.padEnd(22)} ${ms.toFixed(0).padStart(5)} ms ${(ms / base).toFixed(2).padStart(6)}x`)
}

async function startTime({ args, env }: { args: string[]; env?: Record<string, string> }): Promise<number> {
  const port = await freePort()
  const start = performance.now()
  const child = spawn(process.execPath, args, {
    env: { ...process.env, PORT: String(port), MANAGEMENT_PORT: '0', DRAIN_TIME: '0', ACCESS_TOKENS: token, ...env },
    stdio: 'ignore',
  })
  while (!(await answers(child, port)));
  const time = performance.now() - start
  child.kill('SIGKILL')
  await once(child, 'exit')
  return time
}

/** Resolves false when nobody listens yet. */
function answers(child: ChildProcess, port: number): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode} before its first answer`)
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const options = { host: '127.0.0.1', port, path: '/plants', method: 'POST', headers, agent: false }
    const sent = request(options, (answer) => {
      answer.resume().once('end', () => {
        if (answer.statusCode === 200) resolve(true)
        else reject(new Error(`answered ${answer.statusCode}`))
      })
    })
    sent.once('error', () => setTimeout(resolve, 1, false)).end('{"id":1,"name":"Monstera deliciosa"}')
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
