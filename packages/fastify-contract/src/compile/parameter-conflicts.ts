import type { ParameterText } from '../serve/routes.ts'
import { resolve } from './json-pointer.ts'
import { type Document, type Endpoint, type Located, type Parameter, schemePlace } from './openapi-document.ts'
import { parameterText } from './parameter-texts.ts'
import { credentialOf } from './security-schemes.ts'

/** The names in one part of a request, such as its query, that a parameter or a credential is read from. */
type Claim = {
  what: string
  in: string
  names: string[]
  /** Whether the names are those of the properties of an object. */
  isObject?: boolean
  /** Whether the object accepts properties of any name. */
  takesAll?: true | undefined
  /** The prefix of the names of an object in style deepObject. */
  prefix?: string
}

type Clash = { parameter: Located<Parameter>; problems: string[] }

/**
 * Returns the conflicts of each parameter of an operation. An object whose properties are sent under separate names
 * conflicts with every other parameter or credential of one of these names: the request would be ambiguous.
 */
export function conflictProblems(document: Document, endpoint: Endpoint): Clash[] {
  const claims = endpoint.parameters.map((parameter) => claimOf(parameterText(document, endpoint.path, parameter)))
  const all = [...claims, ...credentialClaims(document, endpoint)]
  return endpoint.parameters.map((parameter, index) => {
    const own = claims[index] as Claim
    const others = all.filter((one) => one !== own && one.in === own.in)
    return { parameter, problems: others.flatMap((other) => clashes(own, other)) }
  })
}

function claimOf({ in: place, name, kind, style, explode, properties = {}, takesAll }: ParameterText): Claim {
  const claim = { what: `parameter ${name}`, in: place }
  if (kind === 'object' && style === 'deepObject') return { ...claim, names: [], prefix: `${name}[` }
  if (kind !== 'object' || style !== 'form' || !explode) return { ...claim, names: [name] }
  return { ...claim, names: Object.keys(properties), isObject: true, takesAll }
}

const credentialClaims = (document: Document, { security }: Endpoint): Claim[] =>
  [...new Set(security.flatMap((requirement) => Object.keys(requirement)))]
    .filter((scheme) => resolve(document, schemePlace(scheme)) !== undefined)
    .flatMap((scheme) => {
      const credential = credentialOf(document, scheme)
      const what = `security scheme ${scheme}`
      return credential === undefined ? [] : [{ what, in: credential.in, names: [credential.name] }]
    })

function clashes(own: Claim, other: Claim): string[] {
  if (own.takesAll) {
    return [
      `its additionalProperties accept every name in the ${own.in}, including that of ${other.what}; list its properties by name only, or use explode: false`,
    ]
  }
  if (own.isObject) {
    return own.names
      .filter((name) => other.names.includes(name) || isBelow(name, other))
      .map(
        (name) => `its property ${name} has the same name as ${other.what}; rename one of them, or use explode: false`,
      )
  }
  return other.names
    .filter((name) => !other.isObject && isBelow(name, own))
    .map((name) => `${name} would name both a property of it and ${other.what}; rename one of them`)
}

const isBelow = (name: string, { prefix }: Claim): boolean =>
  prefix !== undefined && name.startsWith(prefix) && name.endsWith(']')
