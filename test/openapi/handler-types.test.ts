import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import ts from 'typescript'

/** What the compiler says of a module that stands in src and has this text; one line for each diagnostic. */
function diagnose(text: string): string[] {
  const file = resolve('src/probe.ts')
  const { config } = ts.parseConfigFileTextToJson('tsconfig.json', readFileSync('tsconfig.json', 'utf8'))
  const { options } = ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, types: [] }, '.')
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.getSourceFile = (name, target) =>
    resolve(name) === file ? ts.createSourceFile(name, text, target) : getSourceFile(name, target)
  host.fileExists = (name) => resolve(name) === file || fileExists(name)
  host.readFile = (name) => (resolve(name) === file ? text : readFile(name))
  return ts
    .getPreEmitDiagnostics(ts.createProgram([file], options, host))
    .map(({ code, messageText }) => `TS${code} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`)
}

const probe = (handlers: string) =>
  diagnose(
    `import type { Handlers } from './openapi/handler-types.ts'\nexport const handlers: Handlers = ${handlers}\n`,
  )

t.test('handlers that the contract describes compile', async (t) => {
  t.same(
    probe(`{
    async createPlant({ body }) {
      const id: bigint = body.id
      if (id === 1n) return { status: 409, body: { error: 40900, message: '' } }
      return { status: 200, body: body.tag === undefined ? { name: body.name } : { name: body.name, tag: body.tag } }
    },
  }`),
    [],
  )
})

/** Each mistake with the words in which the compiler must give its reason. */
const mistakes: Record<string, [handlers: string, reason: RegExp]> = {
  'a missing handler': ['{}', /^TS2741 Property 'createPlant' is missing in type '{}'/],
  'a surplus handler': [
    `{ createPlant: async () => ({ status: 200, body: { name: '' } }), deletePlant: async () => {} }`,
    /^TS2353 .* 'deletePlant' does not exist in type 'Handlers/,
  ],
  'a status that is not listed': [
    `{ createPlant: async () => ({ status: 201, body: { name: '' } }) }`,
    /^TS2322 .*Types of property 'status' are incompatible\. +Type '201' is not assignable to type '409'/,
  ],
  'the body of another status': [
    `{ createPlant: async () => ({ status: 409, body: { name: '' } }) }`,
    /^TS2322 .*Types of property 'body' are incompatible\. .*missing the following properties .*: error, message/,
  ],
  'an id that is taken for a number': [
    `{ createPlant: async ({ body }) => { const id: number = body.id; return { status: 200, body: { name: String(id) } } } }`,
    /^TS2322 Type 'bigint' is not assignable to type 'number'/,
  ],
}

for (const [mistake, [handlers, reason]] of Object.entries(mistakes)) {
  t.test(`${mistake} does not compile`, async (t) => {
    const diagnostics = probe(handlers)
    t.equal(diagnostics.length, 1, diagnostics.join('\n'))
    t.match(diagnostics[0], reason)
  })
}

t.test('a range of statuses is any of it that is not named, default what there is nothing else for', async (t) => {
  const types = `import type { OperationReply } from './openapi/handler-types.ts'
    type Json<Body> = { content: { 'application/json': Body } }
    type Reply = OperationReply<{ responses: { 200: Json<1>; 404: Json<2>; '4XX': Json<3>; 204: {}; default: Json<4> } }>
    type Default = OperationReply<{ responses: { default: Json<5> } }>
    export const all: [Reply[], Default] = `
  const valid = [
    '[[{ status: 200, body: 1 }, { status: 404, body: 2 }, { status: 418, body: 3 }, { status: 204, body: undefined }],',
    '{ status: 599, body: 5 }]',
  ].join('')
  t.same(diagnose(`${types}${valid}`), [])
  for (const reply of ['{ status: 404, body: 3 }', '{ status: 500, body: 4 }', '{ status: 418, body: 1 }']) {
    t.not(diagnose(`${types}[[${reply}], { status: 200, body: 5 }]`).length, 0, reply)
  }
})
