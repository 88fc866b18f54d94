import {
  type At,
  isNode,
  type Kind,
  mapEntries,
  methods,
  type Node,
  withoutKeys,
} from '../../document/walk-document.ts'
import type { Advise } from '../../reports/reports.ts'
import { opens } from './meant-members.ts'
import { isField } from './openapi-fields.ts'

/** The objects whose requirements apply to operations, or would if OpenAPI allowed them there. */
const holders: Kind[] = ['document', 'components', 'pathItem', 'operation']

/** The objects of an operation, into which a wrong indentation of YAML can move its requirements. */
const below: Kind[] = ['requestBody', 'response', 'mediaType']

/**
 * Returns a path item whose operations have its requirements, unless they have their own. Requirements that accept a
 * request without credentials stay, for the rules to reject: those of the document may apply instead.
 */
export function withOperationSecurity(item: Node, at: At, advise: Advise): Node {
  if (!Object.hasOwn(item, 'security') || Object.hasOwn(item, '$ref')) return item
  const { security } = item
  if (opens(security)) return item
  const required = (operation: unknown) =>
    isNode(operation) || operation === null ? { security, ...operation } : operation
  advise(
    'security-of-path-item',
    at('security'),
    'is no field of a path item; read as that of its operations; move it to them',
  )
  return mapEntries(withoutKeys(item, ['security']), function secureMember(value, name) {
    if (name === 'additionalOperations' && isNode(value)) return mapEntries(value, required)
    return methods.includes(name) ? required(value) : value
  })
}

/**
 * Returns whether a member that OpenAPI does not define is a security requirement: to ignore it could open an operation.
 */
export function isLostSecurity(kind: Kind, name: string, value: unknown): boolean {
  const isHolder = holders.includes(kind)
  if (!(isHolder || below.includes(kind)) || isField(kind, name)) return false
  return isSecurityName(name) || (isHolder && isRequirements(value))
}

/** Returns whether a name is that of security requirements, in any notation. */
export const isSecurityName = (name: string): boolean =>
  /^(?:securities|security(?:requirements?)?)$/.test(name.toLowerCase().replace(/[^a-z/]/g, ''))

const isRequirements = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((one) => isNode(one) && Object.keys(one).length > 0 && Object.values(one).every(isScopes))

const isScopes = (value: unknown): boolean => Array.isArray(value) && value.every((scope) => typeof scope === 'string')
