import { isScope } from 'fastify-contract/contract'
import { announcementOf, announcements } from '../document/deprecation.ts'
import { join, resolve, targetOf } from '../document/json-pointer.ts'
import {
  type Document,
  type Endpoint,
  endpoints,
  routedPath,
  schemePointer,
  securityPointer,
  serverVariable,
  withoutFragment,
} from '../document/openapi-document.ts'
import { selectorsOf } from '../document/parameter-objects.ts'
import { conflictingSchemes, neededScopes, securityScheme } from '../document/security-schemes.ts'
import type { Node } from '../document/walk-document.ts'
import type { Report } from '../reports/reports.ts'

/** Rejects paths that the router cannot match, and warns of those that may mean something else. */
export function checkPath(endpoint: Endpoint, report: Report, document: Document): void {
  const { path, routes, parameters } = endpoint
  const pointer = join('#', 'paths', path)
  const described = parameters.flatMap((one) => (one.in === 'path' ? [`{${one.name}}`] : []))
  for (const [name] of routedPath(path).matchAll(/\{[^}]*\}/g)) {
    if (name.includes('/') || (/^\{[.;?&]/.test(name) && !described.includes(name)))
      report(
        'unmatchable-path',
        pointer,
        `${name} contains a slash or a character of URI templates; name the parameter by a word, as in {id}`,
      )
  }
  for (const [literal, colon, bracket] of path.matchAll(/(?<=\/)(?::([A-Za-z_]\w*)|<([\w-]+)>)(?=\/|$)/g))
    report(
      'unclear-path',
      pointer,
      `${literal} is a literal part of the path; write {${colon ?? bracket}} for a parameter`,
    )
  if (/\s/.test(path.replace(/\{[^}]*\}/g, '')))
    report('unclear-path', pointer, 'contains a space, which a request sends as %20; remove it unless it is meant')
  if (path.includes('}{'))
    report('unmatchable-path', pointer, 'parameters need text between them, such as a slash; add some')
  if (path !== withoutFragment(path) && selectorsOf(document, endpoint).length === 0)
    report('unclear-path', pointer, 'no request has a fragment, so the path is served without it')
  if (/%(?![\da-f]{2})/i.test(path))
    report('unmatchable-path', pointer, 'contains a % that does not begin a percent-encoding; remove it')
  const names = Array.from(routedPath(path).matchAll(/\{[^}]*\}/g), ([name]) => name)
  for (const name of names.filter((each, index) => names.indexOf(each) < index))
    report('unmatchable-path', pointer, `${name} occurs twice; use each path parameter once`)
  for (const route of routes) {
    const [unsupported] = /[*?#%{]/.exec(route.replace(/\{[^}]*\}/g, '')) ?? []
    const [variable] = /\{[^}]*\}/.exec(route.slice(0, route.length - routedPath(path).length)) ?? []
    if (!route.startsWith('/'))
      report(
        'server-path',
        pointer,
        `${route} does not begin with /; begin the server URL with / or with a scheme such as https://`,
      )
    else if (variable?.startsWith(`{${serverVariable}`))
      report(
        'server-variable-as-template',
        pointer,
        `the server variable ${variable.slice(serverVariable.length + 1, -1)} has a template as its value, so any text matches in its place; give it a value`,
      )
    else if (variable !== undefined)
      report(
        'server-path',
        pointer,
        `the path of a server has the undescribed variable ${variable}; describe it in variables`,
      )
    else if (unsupported !== undefined)
      report(
        'unmatchable-path',
        pointer,
        `${route} contains ${unsupported}, which is not supported in a path; remove it`,
      )
  }
}

/** Rejects keys of responses that no response can have as its status. */
export function checkStatuses({ responses, pointer }: Endpoint, report: Report): void {
  for (const status of Object.keys(responses)) {
    const at = join(pointer, 'responses', status)
    if (!/^([1-5]\d\d|[1-5]XX|default)$/.test(status))
      report('invalid-status', at, 'is not a status; use a number from 200 to 599, a range such as 4XX, or default')
    else if (status.startsWith('1'))
      report('invalid-status', at, 'a status from 100 to 199 does not end a request; remove it')
  }
}

/**
 * Rejects requirements of schemes that the document does not describe, and warns of those whose schemes need different
 * texts in one header.
 */
export function checkSecurity(endpoint: Endpoint, report: Report, document: Document): void {
  const pointer = securityPointer(document, endpoint)
  const isDeclared = (scheme: string) => resolve(document, schemePointer(scheme)) !== undefined
  for (const [index, requirement] of endpoint.security.entries()) {
    const undeclared = Object.keys(requirement).filter((scheme) => !isDeclared(scheme))
    for (const scheme of undeclared)
      report('undeclared-scheme', pointer, `${scheme} is not in #/components/securitySchemes; add it there`)
    const conflict = undeclared.length > 0 ? undefined : conflictingSchemes(document, requirement)
    if (conflict !== undefined)
      report(
        'conflicting-schemes',
        join(pointer, String(index)),
        `${conflict.join(' and ')} use the same header, so no request meets both; write them as alternatives`,
      )
  }
}

/**
 * Rejects scopes that are not valid in a token or a challenge (RFC 6749 section 3.3), and warns of those of an oauth2
 * scheme that none of its flows declares: no client could get them.
 */
export function checkScopes(document: Document, report: Report): void {
  for (const { pointer, scheme, scope } of neededScopes(document)) {
    if (!isScope(scope))
      report(
        'invalid-scope',
        pointer,
        `scope ${JSON.stringify(scope)} is not valid (RFC 6749); use printable ASCII without spaces, " and \\`,
      )
    const { flows } = resolve(document, schemePointer(scheme)) === undefined ? {} : securityScheme(document, scheme)
    const isDeclared = Object.values(Object(flows)).some((flow) => Object.hasOwn(Object(Object(flow).scopes), scope))
    if (flows !== undefined && !isDeclared)
      report(
        'undeclared-scope',
        pointer,
        `scope ${scope} is not declared in any flow of ${scheme}; add it there, or correct it here`,
      )
  }
}

/** Rejects announcements of an operation that are not valid, or that contradict each other. */
export function checkDeprecation(endpoint: Endpoint, report: Report, document: Document): void {
  const operation = targetOf(document, endpoint.pointer) as Node
  for (const name of announcements)
    if (Object.hasOwn(operation, name) && announcementOf(document, endpoint, name) === undefined)
      report(
        'invalid-announcement',
        join(endpoint.pointer, name),
        'must be a date such as 2027-01-31, or an object with such a date and a link that begins with https://; correct it',
      )
  const [deprecation, sunset] = announcements.map((name) => announcementOf(document, endpoint, name))
  if (deprecation !== undefined && sunset !== undefined && sunset.date < deprecation.date)
    report(
      'invalid-announcement',
      join(endpoint.pointer, 'x-sunset'),
      'is before x-deprecation (RFC 9745 section 4); correct one of them',
    )
}

/** Warns once of all deprecated operations without a date, whose responses therefore do not say so. */
export function checkUndated(document: Document, report: Report): void {
  const [first, ...others] = endpoints(document).filter(function isUndated(endpoint) {
    const { deprecated } = targetOf(document, endpoint.pointer) as Node
    return deprecated === true && announcementOf(document, endpoint, 'x-deprecation') === undefined
  })
  const as = others.length === 0 ? '' : `, as ${others.length} other operations are`
  const fix = 'so its responses have no Deprecation header; add x-deprecation: YYYY-MM-DD'
  if (first !== undefined) report('undated-deprecation', first.pointer, `is deprecated without a date${as}, ${fix}`)
}
