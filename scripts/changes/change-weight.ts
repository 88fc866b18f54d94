/** What a change asks of the version: breaking a new major, compatible a new minor, text a new patch. */
export type Weight = 'breaking' | 'compatible' | 'text'

/** One change in the report of redocly diff --format=json; the path leads there through every $ref. */
export type Difference = {
  path: string
  /** The RFC 6901 pointer of what holds it, which leads through no $ref. */
  base?: { pointer: string; value?: unknown }
  revision?: { pointer: string; value?: unknown }
  typeName: string
  kind: 'added' | 'removed' | 'modified'
  property?: string
  impact: 'major' | 'minor' | 'patch'
  verdicts: { message: string }[]
  /** What can hold it; none where no operation refers to it. */
  directions: ('request' | 'response')[]
}

/**
 * Returns the weight of a difference and, where it breaks a client, why. What redocly diff calls major is breaking;
 * what else is not for people only is at least compatible, because a client can see it.
 */
export function weigh(difference: Difference): { weight: Weight; why: string } {
  const { impact, verdicts, typeName, property } = difference
  if (impact === 'major') return { weight: 'breaking', why: verdicts.map(({ message }) => message).join(' ') }
  if (forPeople.test(property === undefined ? typeName : `${typeName}.${property}`)) return { weight: 'text', why: '' }
  const [why] = underrated.find(([, applies]) => applies(difference)) ?? []
  return why === undefined ? { weight: 'compatible', why: '' } : { weight: 'breaking', why }
}

/** The objects and fields of OpenAPI 3.1 (section 4.8) that tell a person something and a machine nothing. */
const forPeople =
  /^(Info|Contact|License|Tag|TagList|ExternalDocs|Example|ExamplesMap)\b|\.(title|summary|description|examples?|tags)$/

/** In doubt both: where no operation refers to a schema, code that has its type may send or receive it. */
const isSent = ({ directions }: Difference) => directions.length === 0 || directions.includes('request')
const isReturned = ({ directions }: Difference) => directions.length === 0 || directions.includes('response')

/** Changes that can break a client and that redocly diff 2.77.0 calls minor or patch: in doubt the change is breaking. */
const underrated: [why: string, applies: (difference: Difference) => boolean][] = [
  [
    'What clients send under this name would be ignored.',
    (difference) => isLostProperty(difference) && difference.directions.includes('request'),
  ],
  [
    'No operation refers to it: code that has its type may use this name.',
    (difference) => isLostProperty(difference) && difference.directions.length === 0,
  ],
  [
    'Clients that leave it out get another value.',
    (difference) => difference.property === 'default' && isSent(difference),
  ],
  ['Clients that do not find it assume another value.', ({ property }) => property === 'default'],
  ['What clients send of it is ignored.', (difference) => isSetTrue(difference, 'readOnly') && isSent(difference)],
  [
    'What clients send of it is no longer ignored.',
    (difference) => difference.property === 'readOnly' && difference.base?.value === true && isSent(difference),
  ],
  ['It is no longer returned.', (difference) => isSetTrue(difference, 'writeOnly') && isReturned(difference)],
  [
    'A response may lack it.',
    ({ typeName, property, base }) => typeName === 'Header' && property === 'required' && base?.value === true,
  ],
  [
    'It is required.',
    ({ typeName, kind, revision }) => typeName === 'RequestBody' && kind === 'added' && isRequired(revision?.value),
  ],
  [
    'On one side there is nothing to compare with.',
    ({ kind, path }) => kind !== 'modified' && /(?<!\/(properties|schemas))\/schema$/.test(path),
  ],
  // What it maps to stands elsewhere, and is compared there.
  [
    'Clients tell the schemas apart by it.',
    ({ kind, base, revision }) =>
      kind !== 'added' && /(?<!\/properties)\/discriminator(\/|$)/.test((revision ?? base)?.pointer ?? ''),
  ],
  [
    'What this keyword allows cannot be compared.',
    ({ path, property }) =>
      /(?<!\/properties)\/(not|if|patternProperties)(\/|$)/.test(path) || /^(min|max)Contains$/.test(property ?? ''),
  ],
  [
    'Clients get their tokens another way.',
    ({ path, base }) => /\/securitySchemes\/[^/]+\/flows\//.test(path) && base?.value !== undefined,
  ],
]

const isRequired = (body: unknown) => (body as { required?: boolean }).required === true

const isLostProperty = ({ kind, path, property }: Difference) =>
  /\/properties(\/[^/]+)?$/.test(path) && (kind === 'removed' || property === 'key')

const isSetTrue = ({ property, revision }: Difference, keyword: string) =>
  property === keyword && revision?.value === true
