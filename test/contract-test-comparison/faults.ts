/** A mistake in one of the services that the variable FAULT turns on. */
export type Fault = { service: ServiceName; name: string; text: string }

/** Returns the fault of this process, which the variable FAULT names; '' for none. Throws an Error for an unknown one. */
export function plantedFault(service: ServiceName): string {
  const { FAULT: name = '' } = process.env
  const known = faults.filter((one) => one.service === service).map((one) => one.name)
  if (name === '' || known.includes(name)) return name
  throw new Error(`FAULT: ${service} has no fault ${JSON.stringify(name)}; use ${known.join(', ')}`)
}

export type ServiceName = 'plants' | 'books' | 'heroes'

const of = (service: ServiceName, texts: Record<string, string>): Fault[] =>
  Object.entries(texts).map(([name, text]) => ({ service, name, text }))

/** The faults, which are planted one by one. The document alone says that each is one. */
export const faults: Fault[] = [
  ...of('plants', {
    'empty-name-error': 'an empty string gets 500',
    'missing-id-accepted': 'a body without a required property is accepted',
    'open-operation': 'no credentials are needed',
    'no-challenge': '401 without its required header',
    'crash-on-cut-body': 'the process ends when a client closes the connection within a body',
  }),
  ...of('books', {
    'undocumented-status': '202 without a body, which the document allows for 204 only',
    'write-only-returned': 'a response has a writeOnly property',
    'no-location': '201 without its required header',
    'long-title-accepted': 'a string above maxLength is accepted',
    'rejected-change-stored': '400, but the change is stored',
    'scope-unchecked': 'a token without the scope is accepted',
    'wrong-token-accepted': 'any token is accepted',
    'put-not-stored': 'PUT gets 200, but changes nothing',
    'head-differs': 'HEAD has another status than GET',
    'pair-error': 'two optional parameters together get 500',
  }),
  ...of('heroes', {
    'long-name-error': 'a string of 60 characters gets 500',
    'limit-unchecked': 'a number above its maximum is accepted',
    'deleted-readable': 'GET succeeds after DELETE',
    'wrong-type': 'a response has a string for an integer',
    'missing-property': 'a response lacks a required property',
  }),
]
