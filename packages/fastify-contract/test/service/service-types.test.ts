import { diagnose } from 'fastify-contract-test-support/compiler'
import t from 'tap'
import { ownPath } from '../support/own-path.ts'

const preamble = `import type { Contract } from '../index.ts'
import { type MultiService, type Resources, runService, type Service } from './service.ts'
declare const contract: Contract
declare const serve: Resources['createServer']
export declare const values: [Service<string>, MultiService<string, '/v1'>]
export const uses = [contract, serve, runService]
`

/** Returns the diagnostics of calls of runService, one line each, without the place. */
function problemsOf(calls: string[]): string[][] {
  const modules = Object.fromEntries(
    calls.map((call, index) => [ownPath(`src/service/call-${index}.ts`), `${preamble}${call}\n`]),
  )
  const lines = diagnose(Object.keys(modules), modules)
  return Object.keys(modules).map((path) =>
    lines.filter((line) => line.startsWith(`${path}:`)).map((line) => line.replace(/^\S+ /, '')),
  )
}

t.test('a service of one document or of several compiles, and its createServer gets what it was given', async (t) => {
  const right = [
    "runService({ name: 'a', contract, open: async () => ({ createServer: (one, verify, all) => serve(one, verify, all) }) })",
    "runService({ name: 'a', contract: { ...contract }, ...(process.env.A && { environmentFile: 'a' }), open: async () => ({ createServer: (one, verify, all) => serve(one, verify, all) }) })",
    "runService({ name: 'a', contracts: { '/v1': contract, '/v2': contract }, docs: { '/v1': 'a' }, open: async () => ({ createServer: (all, verify, settings) => serve(all['/v2'], verify, settings) }) })",
    'runService(values[0])',
    'runService(values[1])',
  ]
  t.same(
    problemsOf(right),
    right.map(() => []),
  )
})

t.test('a mistake in a call of runService has one short message, as if there were one kind of services', async (t) => {
  const mistakes: [call: string, message: RegExp][] = [
    [
      "runService({ name: 'a', contract, environmentFiles: 'a', open: async () => ({ createServer: serve }) })",
      /^TS2561 Object literal may only .* in type 'Service<string>'\. Did you mean to write 'environmentFile'\?$/,
    ],
    [
      "runService({ name: 'a', open: async () => ({ createServer: serve }) })",
      /^TS2345 .* Property 'contract' is missing in type /,
    ],
    [
      'runService({ contract, open: async () => ({ createServer: serve }) })',
      /^TS2345 .* Property 'name' is missing in type /,
    ],
    [
      "runService({ name: 'a', contract, open: async () => ({ createServe: serve }) })",
      /^TS2322 .* Property 'createServer' is missing in type /,
    ],
    [
      "runService({ name: 'a', contracts: { '/v1': contract }, docs: { '/v3': 'a' }, open: async () => ({ createServer: (all, verify, settings) => serve(all['/v1'], verify, settings) }) })",
      /^TS2353 Object literal may only .*'\/v3'.* does not exist in type '\{ "\/v1"\?: string; \}'\.$/,
    ],
    [
      "runService({ name: 'a', contracts: { '/v1': contract }, open: async () => ({ createServer: (all, verify, settings) => serve(all['/v2'], verify, settings) }) })",
      /^TS7053 .* Property '\/v2' does not exist on type 'Record<"\/v1", Contract>'\.$/,
    ],
  ]
  const problems = problemsOf(mistakes.map(([call]) => call))
  for (const [index, [call, message]] of mistakes.entries()) {
    t.equal(problems[index]?.length, 1, call)
    t.match(problems[index]?.[0], message)
    t.notMatch(problems[index]?.[0], /overload|MultiService/)
  }
})
