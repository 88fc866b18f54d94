import { responseKey, type Schema } from 'fastify-contract/contract'
import { parseExactJson } from 'fastify-contract/json'
import { join } from '../../document/json-pointer.ts'
import type { Header, Located } from '../../document/openapi-document.ts'
import { jsonStyle, locate } from '../../document/openapi-document.ts'
import type { ResponseCheck, ResponseContract } from './check.ts'
import { describedResponse, headerOf, isDescribed } from './documented-response.ts'

export const documentedHeaders: ResponseCheck = {
  name: 'documented-headers',
  summary: 'Each response has the headers that the document requires, and all that it describes match their schemas.',
  find(exchange, contract) {
    const { request, response } = exchange
    const described = isDescribed(exchange) ? describedResponse(request.operation, response.status) : undefined
    for (const name of Object.keys(described?.headers ?? {})) {
      // OpenAPI 3.1 section 4.8.17: a Content-Type among the headers is ignored.
      if (name.toLowerCase() === 'content-type') continue
      const header = locate<Header>(contract.document, join(described?.pointer as string, 'headers', name))
      const text = headerOf(response, name)
      const kind = `${response.status} ${name.toLowerCase()}`
      if (text === undefined) {
        // RFC 9110 section 9.3.2: a response to HEAD may lack headers that depend on the content.
        if (header.required !== true || request.method === 'HEAD') continue
        return { expected: `the header ${name}, which the document requires`, got: 'no such header', kind }
      }
      const schema = headerSchema(exchange.request.operation, response.status, name, contract)
      if (schema === undefined || readings(header, text).some((value) => isValid(contract, schema, value))) continue
      const expected = `a header ${name} that matches its schema`
      return { expected, got: JSON.stringify(text), kind }
    }
    return undefined
  },
}

function headerSchema(
  operation: Parameters<ResponseContract['routeOf']>[0],
  status: number,
  name: string,
  { routeOf }: ResponseContract,
): Schema | undefined {
  const { response = {} } = routeOf(operation)?.schema ?? {}
  return response[responseKey(response, status) ?? '']?.headers?.[name]
}

/** Returns the values that a client may read from the text of a header, as the schema decides. */
function readings({ style, content }: Located<Header>, text: string): unknown[] {
  if (style === jsonStyle || content !== undefined) return [parsed(text)]
  const list = text === '' ? [] : text.split(',').map((item) => item.trim())
  const members = list.map((item) => item.split(/=(.*)/s))
  const pairs: [string, unknown][] = []
  for (let index = 0; index + 1 < list.length; index += 2)
    pairs.push([list[index] as string, scalar(list[index + 1] as string)])
  return [
    text,
    scalar(text),
    list,
    list.map(scalar),
    Object.fromEntries(members.map(([name = '', value = '']) => [name, scalar(value)])),
    Object.fromEntries(pairs),
  ]
}

const scalar = (text: string): unknown =>
  /^(?:true|false|null|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i.test(text) ? parsed(text) : text

function parsed(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    return text
  }
}

function isValid({ validator }: ResponseContract, schema: Schema, value: unknown): boolean {
  try {
    return validator.problem(schema, 'header')(value) === undefined
  } catch {
    return false
  }
}
