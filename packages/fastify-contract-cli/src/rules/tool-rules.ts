import { isToolHeader, kindOf } from 'fastify-contract/contract'
import type { ToolHints } from 'fastify-contract/mcp'
import { join, targetOf } from '../document/json-pointer.ts'
import { type Document, type Endpoint, endpoints, type Parameter } from '../document/openapi-document.ts'
import { preconditionsOf } from '../document/preconditions.ts'
import { apiKeyHeaders } from '../document/security-schemes.ts'
import { isNode, type Node } from '../document/walk-document.ts'
import type { Report } from '../reports/reports.ts'

/** Returns a function that returns whether an argument of a tool may set a parameter; API keys are credentials. */
export function sendable(document: Document): (parameter: Parameter) => boolean {
  const keys = apiKeyHeaders(document).map((name) => name.toLowerCase())
  return ({ in: location, name }) => location !== 'header' || (isToolHeader(name) && !keys.includes(name.toLowerCase()))
}

/** What the value of `x-mcp` says about a tool, in place of its operation. */
export type ToolMark = { name?: string; title?: string; description?: string; annotations?: ToolHints }

/** Returns what `x-mcp` says about an operation as a tool; undefined if it is none. */
export function toolMark(document: Document, { pointer }: Pick<Endpoint, 'pointer'>): ToolMark | undefined {
  const { 'x-mcp': mark } = targetOf(document, pointer) as Node
  if (mark === true) return {}
  return isNode(mark) ? mark : undefined
}

const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']

const isText = (value: unknown): boolean => typeof value === 'string'

/** The members of `x-mcp`, with what each must be. */
const members: Record<string, [isValid: (value: unknown) => boolean, problem: string]> = {
  name: [isText, 'must be a text; correct it'],
  title: [isText, 'must be a text; correct it'],
  description: [isText, 'must be a text; correct it'],
  annotations: [
    (value) =>
      isNode(value) && Object.entries(value).every(([hint, one]) => hints.includes(hint) && typeof one === 'boolean'),
    `must have only ${hints.join(', ')}, each true or false; correct it`,
  ],
}

/** Returns whether a parameter has one of the preconditions that a 428 demands. */
const isPrecondition = ({ in: location, name }: Parameter): boolean =>
  location === 'header' && /^if-(match|none-match|unmodified-since)$/i.test(name)

/** Rejects operations with `x-mcp` that cannot be tools. */
export function checkTool(endpoint: Endpoint, report: Report, document: Document): void {
  const { 'x-mcp': given } = targetOf(document, endpoint.pointer) as Node
  const pointer = join(endpoint.pointer, 'x-mcp')
  const known = Object.keys(members).join(', ')
  if (given !== undefined && typeof given !== 'boolean' && !isNode(given))
    report('unsupported-tool', pointer, `must be true, false, or an object with ${known}; correct it`)
  const mark = toolMark(document, endpoint)
  if (mark === undefined) return
  for (const [member, value] of Object.entries(mark)) {
    const [isValid, problem] = Object.hasOwn(members, member)
      ? (members[member] as (typeof members)[string])
      : [() => false, `is none of ${known}; correct it`]
    if (!isValid(value)) report('unsupported-tool', join(pointer, member), problem)
  }
  const { operationId, requestBody, parameters, responses } = endpoint
  const bodies = Object.keys(requestBody?.content ?? {})
  const kinds = Object.values(responses).flatMap(({ content = {} }) => Object.keys(content).map(kindOf))
  if (!/^[\w.-]{1,128}$/.test(String(mark.name ?? operationId)))
    report(
      'unsupported-tool',
      pointer,
      'the name of a tool has up to 128 letters, digits, _, - and .; rename the operationId, or set name of x-mcp',
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
  // A precondition that the document does not declare as a parameter is no argument, so each call would get 428.
  if (preconditionsOf(document, endpoint)?.isRequired === true && !parameters.some(isPrecondition))
    report(
      'unsupported-tool',
      pointer,
      'each call of the tool would get 428, since it has no argument for a precondition; declare the header parameter If-Match, or remove x-mcp',
    )
  if (kinds.some((kind) => kind !== 'json' && kind !== 'text'))
    report('unsupported-tool', pointer, 'the result of a tool is JSON or text; remove the other media types, or x-mcp')
}

/** Rejects a name of two tools. */
export function checkToolNames(document: Document, report: Report): void {
  const taken = new Map<string, string>()
  for (const endpoint of endpoints(document)) {
    const mark = toolMark(document, endpoint)
    if (mark === undefined) continue
    const { name = endpoint.operationId } = mark
    const other = taken.get(name)
    const problem = `the tool ${name} has the name of the operation ${other}; set another name of x-mcp`
    if (other !== undefined) report('unsupported-tool', join(endpoint.pointer, 'x-mcp'), problem)
    taken.set(name, endpoint.operationId)
  }
}
