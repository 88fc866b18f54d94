import { unionMark } from './aligned-unions.ts'

/** The version increment that a change requires: breaking a new major, compatible a new minor, text a new patch. */
export type Severity = 'breaking' | 'compatible' | 'text'

/** The severities, the highest first. */
export const severities: Severity[] = ['breaking', 'compatible', 'text']

/** One change in the report of redocly diff --format=json. Its path follows every $ref. */
export type Difference = {
  path: string
  /** The JSON pointer (RFC 6901) of the object that holds the change, without following any $ref. */
  base?: { pointer: string; value?: unknown }
  revision?: { pointer: string; value?: unknown }
  typeName: string
  kind: 'added' | 'removed' | 'modified'
  property?: string
  impact: 'major' | 'minor' | 'patch'
  verdicts: { message: string }[]
  /** Whether requests, responses or both can contain it; empty if no operation refers to it. */
  directions: ('request' | 'response')[]
}

/**
 * Returns the severity of a difference and, if it breaks clients, the reason. A change that redocly diff calls major is
 * breaking. Any other change that is not documentation only is at least compatible, because clients can see it.
 */
export function severityOf(difference: Difference): { weight: Severity; why: string } {
  const { impact, verdicts, typeName, property } = difference
  if (impact === 'major') return { weight: 'breaking', why: verdicts.map(({ message }) => message).join(' ') }
  if (documentationOnly.test(property === undefined ? typeName : `${typeName}.${property}`))
    return { weight: 'text', why: '' }
  const [why] = Object.entries(underrated).find(([, applies]) => applies(difference)) ?? []
  return why === undefined ? { weight: 'compatible', why: '' } : { weight: 'breaking', why }
}

/** The objects and fields of OpenAPI 3.1 (section 4.8) that no client sees: documentation, and the version of OpenAPI. */
const documentationOnly =
  /^(Info|Contact|License|Tag|TagList|ExternalDocs|Example|ExamplesMap)\b|^Root\.openapi$|\.(title|summary|description|examples?|tags)$/

/**
 * A schema that no operation refers to counts as sent and as returned, because code that uses its type may do either.
 */
const isSent = ({ directions }: Difference) => directions.length === 0 || directions.includes('request')
const isReturned = ({ directions }: Difference) => directions.length === 0 || directions.includes('response')

/**
 * Changes that may break clients although redocly diff 2.77.0 calls them minor or patch, by the reason. When in doubt, a
 * change counts as breaking.
 */
const underrated: Record<string, (difference: Difference) => boolean> = {
  'What clients send under this name would be ignored.': (difference) =>
    isLostProperty(difference) && difference.directions.includes('request'),
  'No operation refers to the schema, but code that uses its type may use this name.': (difference) =>
    isLostProperty(difference) && difference.directions.length === 0,
  'Clients that leave it out get another value.': (difference) =>
    difference.property === 'default' && isSent(difference),
  'Clients assume another value if a response lacks it.': ({ property }) => property === 'default',
  'A value that several schemas accept is rejected.': (difference) =>
    isUnion(difference, 'oneOf') && isSent(difference),
  'Several schemas may accept a value that a response has.': (difference) =>
    isUnion(difference, 'anyOf') && isReturned(difference),
  'Its operations were removed.': ({ kind, path }) =>
    kind === 'removed' && /(?<!\/properties)\/additionalOperations$/.test(path),
  'Values that clients send for it are ignored.': (difference) =>
    isSetTrue(difference, 'readOnly') && isSent(difference),
  'Values that clients send for it are no longer ignored.': (difference) =>
    difference.property === 'readOnly' && difference.base?.value === true && isSent(difference),
  'It is no longer returned.': (difference) => isSetTrue(difference, 'writeOnly') && isReturned(difference),
  'A response may lack it.': ({ typeName, property, base }) =>
    typeName === 'Header' && property === 'required' && base?.value === true,
  'A request without a precondition is rejected.': ({ typeName, kind, path }) =>
    typeName === 'Response' && kind === 'added' && /\/responses\/428$/.test(path),
  'It is required.': ({ typeName, kind, revision }) =>
    typeName === 'RequestBody' && kind === 'added' && isRequired(revision?.value),
  'Only one of the documents has a schema here, so the allowed values cannot be compared.': ({ kind, path }) =>
    kind !== 'modified' && /(?<!\/(properties|schemas))\/schema$/.test(path),
  // The schemas that a discriminator maps to are compared at their own locations.
  'Clients distinguish the schemas by it.': ({ kind, base, revision }) =>
    kind !== 'added' && /(?<!\/properties)\/discriminator(\/|$)/.test((revision ?? base)?.pointer ?? ''),
  'What this keyword allows cannot be compared.': ({ path, property }) =>
    /(?<!\/properties)\/(not|if|patternProperties)(\/|$)/.test(path) || /^(min|max)Contains$/.test(property ?? ''),
  'Clients get their tokens another way.': ({ path, base }) =>
    /\/securitySchemes\/[^/]+\/flows\//.test(path) && base?.value !== undefined,
}

const isRequired = (body: unknown) => (body as { required?: boolean }).required === true

const isLostProperty = ({ kind, path, property }: Difference) =>
  /\/properties(\/[^/]+)?$/.test(path) && (kind === 'removed' || property === 'key')

const isUnion = ({ property, revision }: Difference, keyword: string) =>
  property === unionMark && revision?.value === keyword

const isSetTrue = ({ property, revision }: Difference, keyword: string) =>
  property === keyword && revision?.value === true
