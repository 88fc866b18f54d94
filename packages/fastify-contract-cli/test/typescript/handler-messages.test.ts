import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import t from 'tap'
import type { Document } from '../../src/document/openapi-document.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import { handlerStubs } from '../../src/emit/handler-stubs.ts'
import { compilerOptions } from '../../src/init/project.ts'
import { checkTypes } from '../../src/typescript/type-checker.ts'

const json = (schema: object, example: unknown) => ({ content: { 'application/json': { schema, example } } })
const pet = {
  type: 'object',
  required: ['id', 'name'],
  properties: { id: { type: 'integer', format: 'int64' }, name: { type: 'string' }, tag: { type: 'string' } },
}
const failure = { type: 'object', required: ['code'], properties: { code: { type: 'integer' } } }
const found = { description: 'A pet.', headers: { 'X-Total': { schema: { type: 'integer' } } } }
const document = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1.0.0' },
  paths: {
    '/pet': {
      get: {
        operationId: 'getPet',
        responses: {
          200: { ...found, ...json(pet, { id: 7, name: 'Tom' }) },
          404: { description: 'None.', ...json(failure, { code: 1 }) },
        },
      },
      delete: { operationId: 'deletePet', responses: { 204: { description: 'Deleted.' } } },
    },
    '/pets': {
      get: {
        operationId: 'listPets',
        responses: { 200: { description: 'Pets.', ...json({ type: 'array', items: pet }, [{ id: 1, name: 'Tom' }]) } },
      },
    },
  },
} as unknown as Document

const compiled = await compileDocument(document, 'pets.yaml')
const stubs = handlerStubs(compiled, undefined)

/** Handlers as `init` writes them, and without the types of their results. */
const forms = [stubs, stubs.map((stub) => stub.replace(/: ReturnType<.*?\]>/, ''))] as const

/** Mistakes in handlers, with the messages for both forms: in the first one the compiler finds the place. */
const mistakes: Record<string, { edit: (handlers: string) => string; typed: string; untyped?: string }> = {
  missing: {
    edit: (text) => text.replace(/^ {2}\/\/ DELETE.*?^ {2}\},\n/ms, ''),
    typed: "TS2741: Property 'deletePet' is missing; type 'Handlers' requires it.",
  },
  several: {
    edit: (text) =>
      text.replace(/^ {2}\/\/ DELETE.*?^ {2}\},\n/ms, '').replace(/^ {2}\/\/ GET \/pets\n.*?^ {2}\},/ms, ''),
    typed: "TS2739: Properties deletePet, listPets are missing; type 'Handlers' requires them.",
  },
  surplus: {
    edit: (text) => text.replace('  // DELETE', '  async other() {},\n  // DELETE'),
    typed: "TS2353: Property 'other' does not exist in type 'Handlers'.\n  in other",
  },
  status: {
    edit: (text) => text.replace('status: 204', 'status: 299'),
    typed: "TS2322: Type '299' is not assignable to type '204'.\n  in deletePet",
    untyped:
      "TS2322: Type '299' is not assignable to type '204'.\n  Types of property 'status' are incompatible.\n  in deletePet",
  },
  body: {
    edit: (text) => text.replace('body: undefined', "body: 'x'"),
    typed: "TS2322: Type 'string' is not assignable to type 'undefined'.\n  in deletePet",
    untyped:
      "TS2322: Type 'string' is not assignable to type 'undefined'.\n  Types of property 'body' are incompatible.\n  in deletePet",
  },
  property: {
    edit: (text) => text.replace("id: 7n, name: 'Tom'", 'id: 7n'),
    typed:
      "TS2322: Property 'name' is missing; type '{ id: bigint; name: string; tag?: string; }' requires it.\n  Type '{ id: bigint; }' is not assignable to type '{ id: bigint; name: string; tag?: string; } | { code: number; }'.\n  in getPet",
    untyped:
      "TS2322: Property 'name' is missing; type '{ id: bigint; name: string; tag?: string; }' requires it.\n  Types of property 'body' are incompatible.\n  in getPet",
  },
  bigint: {
    edit: (text) => text.replace('id: 1n', 'id: 1'),
    typed: "TS2322: Type 'number' is not assignable to type 'bigint'.\n  in listPets",
    untyped:
      "TS2322: Type 'number' is not assignable to type 'bigint'.\n  Types of property 'id' are incompatible.\n  Types of property 'body' are incompatible.\n  in listPets",
  },
  header: {
    edit: (text) => text.replace("'X-Total': 0", "'X-Total': 'a'"),
    typed: "TS2322: Type 'string' is not assignable to type 'number'.\n  in getPet",
    untyped:
      "TS2322: Type 'string' is not assignable to type 'number'.\n  The types of 'headers[\"X-Total\"]' are incompatible between these types.\n  in getPet",
  },
  undeclared: {
    edit: (text) => text.replace('status: 204', "status: 204, headers: { 'X-Other': 'a' }"),
    typed: "TS2353: The document declares no header 'X-Other' for this response.\n  in deletePet",
    untyped:
      "TS2322: The document declares no headers for this response.\n  Types of property 'headers' are incompatible.\n  in deletePet",
  },
  unknown: {
    edit: (text) => text.replace("'X-Total': 0", "'X-Other': 0"),
    typed: "TS2353: The document declares no header 'X-Other' for this response.\n  in getPet",
    untyped:
      "TS2322: The document declares none of { 'X-Other': number; } for this response.\n  Types of property 'headers' are incompatible.\n  in getPet",
  },
  unreadable: {
    edit: (text) => text.replace('async getPet()', 'async getPet({ header })').replace("'Tom'", "header['x-a']"),
    typed:
      "TS7053: The document declares no parameter 'x-a' here.\n  Element implicitly has an 'any' type because expression of type '\"x-a\"' can't be used to index type 'NoDeclaredParameters'.\n  in getPet",
  },
}

t.test('the message about a handler names it, begins with the cause and has at most four lines', async (t) => {
  const directory = t.testdir({})
  const write = (path: string, text: string) => writeFileSync(join(directory, path), text)
  mkdirSync(join(directory, 'generated'))
  write('tsconfig.json', JSON.stringify({ compilerOptions: { ...compilerOptions, types: [], lib: ['ES2024'] } }))
  write('package.json', '{ "type": "module" }')
  for (const name of ['api.d.ts', 'handler-types.d.ts']) write(`generated/${name}`, compiled.files[name] as string)
  const head = `import type { Handlers } from './generated/handler-types.d.ts'
export const handlers: Handlers = {
`
  const names: string[] = []
  for (const [name, { edit }] of Object.entries(mistakes))
    for (const [index, handlers] of forms.entries()) {
      const file = `${name}-${['typed', 'untyped'][index]}.ts`
      names.push(file)
      write(file, `${head}${edit(handlers.join('\n'))}\n}\n`)
    }
  write('app.ts', names.map((name) => `import './${name}'\n`).join(''))
  const before = process.cwd()
  process.chdir(directory)
  t.teardown(() => process.chdir(before))
  const { message: printed } = (await checkTypes('app.ts', 'types').catch((error) => error)) as Error
  // On a terminal the message has colors.
  const message = stripVTControlCharacters(printed)
  for (const [name, { typed, untyped = typed }] of Object.entries(mistakes))
    for (const [form, expected] of Object.entries({ typed, untyped })) {
      const start = message.indexOf(`${name}-${form}.ts:`)
      const text = message.slice(start).split('\n\n', 1)[0] as string
      const lines = text.split('\n')
      const told = lines.slice(
        0,
        lines.findIndex((line) => /^\d/.test(line)),
      )
      t.equal(told.join('\n').replace(/^\S+ - error /, ''), expected, `${name}, ${form}`)
      t.ok(told.length <= 4)
    }
})
