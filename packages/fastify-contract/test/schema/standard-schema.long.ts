import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { ownPath } from '../support/own-path.ts'

const run = promisify(execFile)

const packages = [
  '@hookform/resolvers@7.0.7',
  '@modelcontextprotocol/server@2.4.0',
  '@standard-schema/utils@0.3.0',
  '@tanstack/form-core@1.33.5',
  '@trpc/server@11.25.2',
  'react@19.3.1',
  'react-hook-form@7.92.0',
]

/** A program that gives one schema to each package, and prints what the package makes of values. */
const program = `
import { standardSchemaResolver } from '@hookform/resolvers/standard-schema'
import { InMemoryTransport, McpServer } from '@modelcontextprotocol/server'
import { getDotPath } from '@standard-schema/utils'
import { FormApi } from '@tanstack/form-core'
import { initTRPC } from '@trpc/server'
import { createValidator } from 'fastify-contract'

type Pet = { id: bigint; name: string; tags?: string[] }
const tags = { type: 'array', items: { type: 'string' } }
const properties = { id: { type: 'integer', format: 'int64' }, name: { type: 'string', minLength: 1 }, tags }
const schemas = { Pet: { type: 'object', required: ['id', 'name'], properties } }
const schema = createValidator(schemas).standard<Pet, { id: number | bigint; name: string; tags?: string[] }>({ $ref: 'Pet#' })
const print = (name: string, value: unknown) =>
  console.log(JSON.stringify([name, value], (_, one) => (typeof one === 'bigint' ? one + 'n' : one)))

const { procedure, router, createCallerFactory } = initTRPC.create()
const next = (pet: Pet): Pet => ({ ...pet, id: pet.id + 1n })
const pets = router({ next: procedure.input(schema).output(schema).query(({ input }) => next(input)) })
const caller = createCallerFactory(pets)({})
print('trpc', await caller.next({ id: 7, name: 'Rex' }))
print('trpc', await caller.next({ id: 7.5, name: 'Rex' }).catch(({ code, message }) => ({ code, message })))
// @ts-expect-error the name is missing
print('trpc', await caller.next({ id: 7 }).catch(({ code }) => code))

const resolve = standardSchemaResolver(schema)
const options = { fields: {}, shouldUseNativeValidation: false }
print('react-hook-form', await resolve({ id: 7, name: 'Rex' }, undefined, options))
print('react-hook-form', await resolve({ id: 7, name: '', tags: ['a', 1 as never] }, undefined, options))

const form = new FormApi({ defaultValues: { id: 7 as number | bigint, name: 'Rex' }, validators: { onChange: schema } })
form.mount()
form.setFieldValue('name', '')
print('tanstack', form.getFieldMeta('name')?.errorMap.onChange)
form.setFieldValue('name', 'Ada')
print('tanstack', form.state.isValid)

const { issues = [] } = schema['~standard'].validate({ id: 1, name: 'Rex', tags: [1] })
print('utils', issues.map(getDotPath))

const server = new McpServer({ name: 'pets', version: '1' })
server.registerTool('next', { inputSchema: schema, outputSchema: schema }, async (pet) => {
  const { id, ...others } = next(pet)
  return { content: [], structuredContent: { ...others, id: Number(id) } }
})
const [near, far] = InMemoryTransport.createLinkedPair()
await server.connect(near)
const replies = new Map<unknown, (message: object) => void>()
far.onmessage = (message) => replies.get((message as { id?: number }).id)?.(message)
await far.start()
let ids = 0
async function ask(method: string, params: object): Promise<object> {
  const id = ++ids
  const reply = new Promise<object>((done) => replies.set(id, done))
  await far.send({ jsonrpc: '2.0', id, method, params: params as never })
  return ((await reply) as { result: object }).result
}
const clientInfo = { name: 'test', version: '1' }
await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
await far.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
print('mcp', await ask('tools/list', {}))
print('mcp', await ask('tools/call', { name: 'next', arguments: { id: 7, name: 'Rex' } }))
print('mcp', await ask('tools/call', { name: 'next', arguments: { id: '7', name: 'Rex' } }))
await server.close()
`

const compilerOptions = {
  module: 'nodenext',
  target: 'es2024',
  noEmit: true,
  strict: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  types: ['node'],
}

const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
const runner = import.meta.resolve('fastify-contract-test-support/register-strip-types.js')

/** Returns a directory with the packages and the program. It is outside of the project, which has other versions. */
async function installed(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'standard-schema-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ type: 'module' }))
  const flags = ['--no-audit', '--no-fund', '--prefer-offline']
  await run('npm', ['install', ...flags, ...packages, '@types/node@20.19.43'], { cwd: directory })
  symlinkSync(resolve(ownPath('.')), join(directory, 'node_modules/fastify-contract'), 'dir')
  mkdirSync(join(directory, 'src'))
  writeFileSync(join(directory, 'src/program.ts'), program)
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }))
  return directory
}

const pet = {
  type: 'object',
  required: ['id', 'name'],
  properties: {
    id: { type: 'integer', format: 'int64' },
    name: { type: 'string', minLength: 1 },
    tags: { type: 'array', items: { type: 'string' } },
  },
}

t.test('forms, tRPC and MCP servers take a schema of createValidator, with its types', async (t) => {
  const directory = await installed()
  const { stdout: mistakes } = await run(process.execPath, [compiler, '-p', '.'], { cwd: directory }).catch(
    (error) => error,
  )
  t.equal(mistakes, '')
  const { stdout } = await run(process.execPath, ['--import', runner, 'src/program.ts'], { cwd: directory })
  const printed = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const of = (name: string) => printed.filter(([each]) => each === name).map(([, value]) => value)
  const int64 = 'must be an int64 integer'
  t.match(of('trpc'), [{ id: '8n', name: 'Rex' }, { code: 'BAD_REQUEST', message: int64 }, 'BAD_REQUEST'])
  t.match(of('react-hook-form'), [
    { values: { id: '7n', name: 'Rex' }, errors: {} },
    { errors: { name: { message: /fewer than 1 characters/ }, tags: [null, { message: 'must be string' }] } },
  ])
  t.match(of('tanstack'), [[{ message: /fewer than 1 characters/ }], true])
  t.same(of('utils'), [['tags.0']])
  t.match(of('mcp'), [
    { tools: [{ name: 'next', inputSchema: pet, outputSchema: pet }] },
    { structuredContent: { id: 8, name: 'Rex' } },
    { isError: true, content: [{ text: `Input validation error: Invalid arguments for tool next: id: ${int64}` }] },
  ])
})
