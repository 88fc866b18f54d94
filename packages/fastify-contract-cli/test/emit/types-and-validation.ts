import { parseJson, stringifyJson } from 'fastify-contract/json'
import { createValidator } from 'fastify-contract/schema'
import { diagnose } from 'fastify-contract-test-support/compiler'
import type { Document } from '../../src/document/openapi-document.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import { SchemaMaker, type Value } from './typed-values.ts'

type Case = { schema: unknown; isRequest: boolean; value: Value; isValid: boolean; line: string }

/**
 * Makes schemas and values and returns a line for each value that the service accepts and the compiler does not, or the
 * other way round. All values are compiled as literals in one program.
 */
export async function disagreements(options: {
  seed: number
  schemas: number
  values: number
  depth: number
}): Promise<string[]> {
  const maker = new SchemaMaker(options.seed)
  const schemas = Array.from({ length: options.schemas }, () => ({ wrapped: maker.schema(options.depth) }))
  const json = (schema: unknown) => ({ content: { 'application/json': { schema } } })
  const document = {
    openapi: '3.1.0',
    info: { title: 'Types', version: '1.0.0' },
    paths: Object.fromEntries(
      schemas.map(({ wrapped }, index) => [
        `/${index}`,
        {
          post: {
            operationId: `post${index}`,
            requestBody: { required: true, ...json(wrapped) },
            responses: { 200: { description: 'Ok.', ...json(wrapped) } },
          },
        },
      ]),
    ),
    components: { schemas: maker.shared },
  } as unknown as Document
  const { routes, files } = await compileDocument(document, 'types.yaml', { skipUnsupported: true })
  const validator = createValidator(routes.schemas)
  const cases = schemas.flatMap(({ wrapped }, index) => {
    const operation = routes.operations.find(({ operationId }) => operationId === `post${index}`)
    if (operation === undefined) return []
    const { schema } = operation as never as {
      schema: {
        body: { content: Record<string, { schema: never }> }
        response: Record<string, { content: Record<string, { schema: never }> }>
      }
    }
    const taken = validator.request(schema.body.content['application/json']?.schema ?? (true as never), 'body')
    const answered = schema.response[200]?.content['application/json']?.schema ?? (true as never)
    const convert = validator.converter(answered)
    const sent = validator.serializer(answered)
    return Array.from({ length: options.values }, (_, number): Case[] => {
      const good = maker.value(wrapped)
      const value = number % 2 === 0 ? good : maker.nearMiss(good)
      const result = taken(parseJson(stringifyJson(value) as string))
      const given = parseJson(stringifyJson(value) as string)
      const returned = convert(given) ? (given.value as Value) : value
      const isSendable = succeeds(() => sent(returned))
      return [
        caseOf(index, true, wrapped, 'value' in result ? (result.value as Value) : value, 'value' in result),
        caseOf(index, false, wrapped, returned, isSendable),
      ]
    }).flat()
  })
  const path = 'src/typed-values.ts'
  const text = ["import type { operations } from './types.d.ts'", ...cases.map(({ line }) => line)].join('\n')
  const findings = new Map<number, string>()
  for (const line of diagnose([path], { [path]: text, 'src/types.d.ts': files['api.d.ts'] as string })) {
    const number = Number(/:(\d+) /.exec(line)?.[1])
    if (!findings.has(number)) findings.set(number, line)
  }
  return cases.flatMap(({ schema, value, isRequest, isValid }, index) => {
    const finding = findings.get(index + 2)
    if (isValid === (finding === undefined)) return []
    const part = isRequest ? 'request' : 'response'
    const said = finding ?? 'the compiler accepts it'
    return [`${part} ${literal(value)} of ${JSON.stringify(schema)}: valid ${isValid}, ${said}`]
  })
}

function caseOf(index: number, isRequest: boolean, schema: unknown, value: Value, isValid: boolean): Case {
  const part = isRequest ? "['requestBody']" : "['responses'][200]"
  const type = `operations['post${index}']${part}['content']['application/json']`
  return { schema, isRequest, value, isValid, line: `export const v${index}_${counter++}: ${type} = ${literal(value)}` }
}

let counter = 0

function succeeds(run: () => unknown): boolean {
  try {
    run()
    return true
  } catch {
    return false
  }
}

function literal(value: Value): string {
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${literal(member)}`)
  return `{ ${members.join(', ')} }`
}
