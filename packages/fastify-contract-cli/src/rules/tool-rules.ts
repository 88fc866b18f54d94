import { kindOf } from 'fastify-contract/contract'
import { isToolHeader } from 'fastify-contract/mcp'
import { join, resolve } from '../document/json-pointer.ts'
import type { Document, Endpoint, Parameter } from '../document/openapi-document.ts'
import { apiKeyHeaders } from '../document/security-schemes.ts'
import type { Node } from '../document/walk-document.ts'
import type { Report } from '../reports/reports.ts'

/** Returns a function that returns whether an argument of a tool may set a parameter; API keys are credentials. */
export function sendable(document: Document): (parameter: Parameter) => boolean {
  const keys = apiKeyHeaders(document).map((name) => name.toLowerCase())
  return ({ in: location, name }) => location !== 'header' || (isToolHeader(name) && !keys.includes(name.toLowerCase()))
}

/** Rejects operations with `x-mcp` that cannot be tools. */
export function checkTool(endpoint: Endpoint, report: Report, document: Document): void {
  const { 'x-mcp': mark } = resolve(document, endpoint.pointer) as Node
  const pointer = join(endpoint.pointer, 'x-mcp')
  if (mark !== undefined && typeof mark !== 'boolean')
    report('unsupported-tool', pointer, 'must be true or false; correct it')
  if (mark !== true) return
  const { operationId, requestBody, parameters, responses } = endpoint
  const bodies = Object.keys(requestBody?.content ?? {})
  const kinds = Object.values(responses).flatMap(({ content = {} }) => Object.keys(content).map(kindOf))
  if (!/^[\w.-]{1,128}$/.test(operationId))
    report(
      'unsupported-tool',
      pointer,
      'the name of a tool has up to 128 letters, digits, _, - and .; rename the operationId',
    )
  if (requestBody?.required === true && !bodies.some((mediaType) => kindOf(mediaType) === 'json'))
    report(
      'unsupported-tool',
      pointer,
      'a tool can send only JSON; add application/json to the request body, or remove x-mcp',
    )
  if (parameters.some((parameter) => parameter.in === 'cookie' && parameter.required))
    report('unsupported-tool', pointer, 'a tool cannot send cookies; remove the required cookie parameter, or x-mcp')
  const isSendable = sendable(document)
  const unsent = parameters.find((parameter) => parameter.required && !isSendable(parameter))
  if (unsent !== undefined)
    report(
      'unsupported-tool',
      pointer,
      `a tool cannot send the header ${unsent.name}; make the parameter optional, or remove x-mcp`,
    )
  if (kinds.some((kind) => kind !== 'json' && kind !== 'text'))
    report('unsupported-tool', pointer, 'the result of a tool is JSON or text; remove the other media types, or x-mcp')
}
