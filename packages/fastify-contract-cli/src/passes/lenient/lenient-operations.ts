import { join } from '../../document/json-pointer.ts'
import type { Document } from '../../document/openapi-document.ts'
import { isNode, type Kind, mapDocument, mapEntries, type Node, walkObjects } from '../../document/walk-document.ts'
import type { Advise } from '../../reports/reports.ts'

const holders: Kind[] = ['document', 'operation']

/**
 * Returns a document whose statuses and security requirements have the form of OpenAPI, as far as their authors leave no
 * doubt. No repair makes an operation accept requests that its requirements reject.
 */
export function withPlainOperations(document: Document, advise: Advise): Document {
  const { securitySchemes } = Object(document.components) as { securitySchemes?: unknown }
  const schemes = Object.keys(Object(securitySchemes))
  const isSecured = !isEmpty(document.security ?? [])
  const repaired = (node: Node, at: string, report: Advise): Node => {
    // `{}` may stand for no requirement, or for nothing: it must not open an operation.
    const isUnclear = isSecured && isNode(node.security) && isEmpty(node.security)
    return withPlainStatuses(isUnclear ? node : withPlainSecurity(node, schemes, at, report), at, report)
  }
  let isSame = true
  walkObjects(document, (node, kind, at) => {
    if (holders.includes(kind)) isSame = repaired(node, at(), advise) === node && isSame
  })
  if (isSame) return document
  const transform = (node: Node) => repaired(node, '#', () => {})
  return mapDocument(document, { document: transform, operation: transform })
}

const isEmpty = (value: object): boolean => Object.keys(value).length === 0

/** Matches a status with its reason phrase (RFC 9110 section 15). */
const withReason = /^([1-5](?:\d\d|xx))[\s:-]+\p{L}/iu

/** Returns the status that the key of a response means. */
function plainStatus(key: string): string {
  const text = key.trim()
  if (/^default$/i.test(text)) return 'default'
  const status = withReason.exec(text)?.[1] ?? text
  return /^[1-5](?:\d\d|xx)$/i.test(status) ? status.toUpperCase() : key
}

function withPlainStatuses(node: Node, pointer: string, advise: Advise): Node {
  const { responses } = node
  if (!isNode(responses)) return node
  const taken = new Set(Object.keys(responses))
  let isSame = true
  const entries: [string, unknown][] = []
  for (const [key, response] of Object.entries(responses)) {
    const status = plainStatus(key)
    // Of several keys that mean one status, the first is read.
    const isTaken = taken.has(status)
    entries.push([isTaken ? key : status, response])
    if (isTaken) continue
    taken.add(status)
    isSame = false
    advise('inexact-status', join(pointer, 'responses', key), `is read as the status ${status}; correct it`)
  }
  return isSame ? node : { ...node, responses: Object.fromEntries(entries) }
}

function withPlainSecurity(node: Node, schemes: string[], pointer: string, advise: Advise): Node {
  const { security } = node
  if (!isNode(security) && !Array.isArray(security)) return node
  const at = join(pointer, 'security')
  if (isNode(security)) advise('security-requirement', at, 'is read as an array with one requirement; write it as one')
  const given: unknown[] = [security].flat()
  const read = given.map((one, index) => plainRequirement(one, schemes, join(at, String(index)), advise))
  const missingIn = (one: unknown) => Object.keys(Object(one)).find((name) => !schemes.includes(name))
  const isKnown = (one: unknown) => isNode(one) && Object.keys(one).length > 0 && missingIn(one) === undefined
  // Without another scheme, the operation would be open.
  const isOneKnown = read.some(isKnown)
  const kept: unknown[] = []
  for (const [index, one] of read.entries()) {
    const missing = missingIn(one)
    if (isNode(one) && missing !== undefined && isOneKnown)
      advise(
        'undeclared-alternative',
        join(at, String(index)),
        `${missing} is not in #/components/securitySchemes, so this alternative is ignored; add it there`,
      )
    else kept.push(one)
  }
  const isSame = kept.length === given.length && kept.every((one, index) => one === given[index])
  return isSame && Array.isArray(security) ? node : { ...node, security: kept }
}

function plainRequirement(given: unknown, schemes: string[], pointer: string, advise: Advise): unknown {
  if (typeof given === 'string' && schemes.includes(given)) {
    advise('security-requirement', pointer, `is read as the scheme ${given} without scopes; write it as an object`)
    return { [given]: [] }
  }
  if (!isNode(given)) return given
  const plain = mapEntries(given, plainScopes)
  const meant = (name: string) => {
    const alike = schemes.filter((one) => one.toLowerCase() === name.toLowerCase())
    return schemes.includes(name) || alike.length !== 1 || Object.hasOwn(plain, alike[0] as string) ? name : alike[0]
  }
  const changed = Object.keys(plain).filter((name) => meant(name) !== name)
  for (const name of changed)
    advise('security-requirement', join(pointer, name), `is read as the scheme ${meant(name)}; correct its name`)
  if (changed.length === 0) return plain
  return Object.fromEntries(Object.entries(plain).map(([name, scopes]) => [meant(name), scopes]))

  function plainScopes(scopes: unknown, name: string): unknown {
    if (scopes === null)
      advise('security-requirement', join(pointer, name), 'is read as an empty array of scopes; write it as one')
    if (typeof scopes === 'string')
      advise('security-requirement', join(pointer, name), `is read as the scope ${scopes}; write it as an array`)
    return scopes === null ? [] : typeof scopes === 'string' ? [scopes] : scopes
  }
}
