import { type Document, endpoints } from '../../document/openapi-document.ts'
import { credentialOf } from '../../document/security-schemes.ts'
import type { SchemeCredentials } from './scheme-credentials.ts'

/** The beginning of the names of the variables with credentials. */
export const variablePrefix = 'CONTRACT_TEST_'
const ofNarrow = '_NARROW'

/** Stands for credentials in the curl commands of a report, so a user may set it. */
export const commandVariable = `${variablePrefix}CREDENTIALS`

/**
 * Returns the variable with the credentials of a security scheme: `CONTRACT_TEST_` and its name, with an underscore before
 * each further word of it, as in CONTRACT_TEST_API_KEY for `apiKey`.
 */
export const variableOf = (scheme: string): string =>
  variablePrefix +
  scheme
    .replace(/(?<=[a-z\d])(?=[A-Z])/g, '_')
    .replace(/[^A-Za-z\d]+/g, '_')
    .toUpperCase()

/** Returns the schemes of the operations of a document that a request can carry. */
export const sendableSchemes = (document: Document): string[] => [
  ...new Set(
    endpoints(document)
      .flatMap(({ security }) => security.flatMap(Object.keys))
      .filter((scheme) => credentialOf(document, scheme) !== undefined),
  ),
]

/**
 * Returns the credentials in environment variables: those of `variableOf`, and with `_NARROW` those without scopes. Throws
 * an Error for another variable that begins with CONTRACT_TEST_, and for one that two schemes share.
 */
export function environmentCredentials(
  document: Document,
  environment: NodeJS.ProcessEnv,
): Record<string, SchemeCredentials> {
  const schemes = new Map<string, string>()
  for (const scheme of sendableSchemes(document)) {
    const variable = variableOf(scheme)
    const other = schemes.get(variable)
    if (other !== undefined)
      throw new Error(`the security schemes ${other} and ${scheme} have the same variable ${variable}; rename one`)
    schemes.set(variable, scheme)
  }
  const allowed = [...schemes.keys()].flatMap((variable) => [variable, variable + ofNarrow])
  for (const variable of Object.keys(environment))
    if (variable.startsWith(variablePrefix) && variable !== commandVariable && !allowed.includes(variable))
      throw new Error(`${variable}: no security scheme has it; expected ${allowed.join(', ') || 'none'}`)
  const found: Record<string, SchemeCredentials> = {}
  for (const [variable, scheme] of schemes) {
    const { [variable]: accepted = '', [variable + ofNarrow]: narrow = '' } = environment
    if (accepted !== '') found[scheme] = { accepted, narrow: narrow || undefined }
    else if (narrow !== '') throw new Error(`${variable + ofNarrow} is set without ${variable}; set both`)
  }
  return found
}
