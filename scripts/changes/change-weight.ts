/** What a change asks of the version: breaking a new major, compatible a new minor, text a new patch. */
export type Weight = 'breaking' | 'compatible' | 'text'

type Side = { file: string; pointer: string; line: number; col: number; value?: unknown }

/** One change in the report of redocly diff --format=json; the path leads there through every $ref, a pointer does not. */
export type Difference = {
  path: string
  typeName: string
  kind: 'added' | 'removed' | 'modified'
  property?: string
  impact: 'major' | 'minor' | 'patch'
  verdicts: { message: string }[]
  base?: Side
  revision?: Side
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

/**
 * Changes that can break a client and that redocly diff 2.77.0 calls minor or patch. Its report does not say whether a
 * schema is sent, returned or both: in doubt the change is breaking.
 */
const underrated: [why: string, applies: (difference: Difference) => boolean][] = [
  [
    'What clients send under this name would be ignored.',
    ({ kind, path, property }) => /\/properties(\/[^/]+)?$/.test(path) && (kind === 'removed' || property === 'key'),
  ],
  ['Clients that leave it out get another value.', ({ property }) => property === 'default'],
  [
    'It is no longer accepted, or no longer returned.',
    ({ property, revision }) => /^(readOnly|writeOnly)$/.test(property ?? '') && revision?.value === true,
  ],
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
  [
    'Clients tell the schemas apart by it.',
    ({ kind, path }) => kind !== 'added' && /(?<!\/properties)\/discriminator(\/|$)/.test(path),
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
