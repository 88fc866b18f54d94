import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { onBothCores } from './measure-command.ts'

/** What a type check needs: seconds, MiB, and how many types the compiler instantiates. */
export type TscFigures = { wall: number; memory: number; instantiations: number }

/**
 * Checks a project with a compiler, by the path of its `tsc`. The project need not compile: a peer without the mending of
 * `init` has errors, which cost about the same. Throws with the output if the compiler did not check types.
 */
export function tscFigures(directory: string, tsc: string, env: NodeJS.ProcessEnv): TscFigures {
  const [program = '', ...before] = onBothCores
  const args = [...before, 'node', tsc, '-p', directory, '--noEmit', '--extendedDiagnostics']
  const { stdout } = spawnSync(program, args, { env, encoding: 'utf8', maxBuffer: 2 ** 28 })
  return { wall: figure('Check time'), memory: figure('Memory used') / 1_024, instantiations: figure('Instantiations') }

  function figure(name: string): number {
    const [, value] = new RegExp(`^${name}: +([\\d.]+)`, 'm').exec(stdout) ?? []
    if (value === undefined) throw new Error(`tsc -p ${directory}: has no ${name}\n${stdout}`)
    return Number(value)
  }
}

/**
 * Writes the peer of a project of `init`: a Fastify application whose handlers have the types of openapi-typescript, in
 * `api.d.ts` of the directory, and return the same values. It has the same compiler options.
 *
 * @param project The directory of the project of `init`.
 * @param directory The directory of the peer.
 */
export function writeTscPeer(project: string, directory: string): void {
  const text = readFileSync(join(project, 'src', 'handlers.ts'), 'utf8')
  const document = JSON.parse(readFileSync(join(project, 'generated', 'openapi.json'), 'utf8'))
  const file = ts.createSourceFile('handlers.ts', text, ts.ScriptTarget.Latest, true)
  const handlers: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isMethodDeclaration(node)) handlers.push(peerHandler(node, document))
    else ts.forEachChild(node, visit)
  }
  visit(file)
  const { include: _, ...config } = JSON.parse(readFileSync(join(project, 'tsconfig.json'), 'utf8'))
  const modules = {
    'handlers.ts': `import type { paths } from './api.d.ts'\n\nexport const handlers = {\n${handlers.join('\n')}\n}\n`,
    'app.ts': app,
    'package.json': '{ "type": "module" }',
    'tsconfig.json': JSON.stringify({ ...config, files: ['app.ts', 'app.test.ts'] }),
    'app.test.ts': test,
  }
  mkdirSync(directory, { recursive: true })
  for (const [name, module] of Object.entries(modules)) writeFileSync(join(directory, name), module)
}

const app = `import fastify from 'fastify'
import { handlers } from './handlers.ts'

export const app = fastify()
for (const [name, handler] of Object.entries(handlers))
  app.get(\`/\${name}\`, async ({ params: path, query, headers: header, body }) =>
    (handler as (input: unknown) => Promise<unknown>)({ path, query, header, body }),
  )
`

const test = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { app } from './app.ts'

test('an unknown path gets 404', async () => {
  assert.equal((await app.inject('/no/such/path')).statusCode, 404)
})
`

type Described = { requestBody?: { content?: object }; responses: Record<string, { content?: object }> }

/** Returns a handler with the types of `paths`. Integers are numbers there. */
function peerHandler(
  method: ts.MethodDeclaration,
  { paths }: { paths: Record<string, Record<string, Described>> },
): string {
  const [, verb = '', path = ''] = /\/\/ (\S+) (\S+)/.exec(method.getFullText()) ?? []
  const described = paths[path]?.[verb.toLowerCase()]
  const type = `paths[${JSON.stringify(path)}][${JSON.stringify(verb.toLowerCase())}]`
  const literal = returned(method)
  const textOf = (name: string) => {
    const property = literal?.properties.find((one) => one.name?.getText() === name)
    return property && ts.isPropertyAssignment(property) ? property.initializer.getText() : undefined
  }
  const status = textOf('status')
  const [mediaType] = Object.keys(described?.responses[status ?? '']?.content ?? {})
  const result =
    mediaType === undefined ? 'void' : `${type}["responses"][${status}]["content"][${JSON.stringify(mediaType)}]`
  const [sent] = Object.keys(described?.requestBody?.content ?? {})
  const input = [
    ...['path', 'query', 'header'].map((place) => `${place}: ${type}["parameters"]["${place}"]`),
    ...(sent === undefined ? [] : [`body: NonNullable<${type}["requestBody"]>["content"][${JSON.stringify(sent)}]`]),
  ]
  const value = mediaType === undefined ? '' : ` ${textOf('body')?.replace(/\b(\d+)n\b/g, '$1')}`
  const statement = literal === undefined ? "throw new Error('not written')" : `return${value}`
  return `  async ${method.name.getText()}(input: { ${input.join('; ')} }): Promise<${result}> {\n    void input\n    ${statement}\n  },`
}

function returned(node: ts.Node): ts.ObjectLiteralExpression | undefined {
  if (ts.isReturnStatement(node) && node.expression && ts.isObjectLiteralExpression(node.expression))
    return node.expression
  return ts.forEachChild(node, returned)
}
