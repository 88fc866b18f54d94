import { credentialsPlaceholder } from '../results.ts'
import { variablePrefix } from './environment-credentials.ts'
import type { GivenCredentials } from './scheme-credentials.ts'

/** Returns the names of the variables with credentials, by their values. */
export function environmentSecrets(environment: NodeJS.ProcessEnv): Map<string, string> {
  const found = new Map<string, string>()
  for (const [name, value = ''] of Object.entries(environment))
    if (name.startsWith(variablePrefix) && value !== '') found.set(value, `$${name}`)
  return found
}

/** Returns what stands for each of the credentials of a run in its result: a variable, if one has it. */
export function secretsOf(given: GivenCredentials): Map<string, string> {
  const found = new Map<string, string>()
  for (const one of Object.values(given)) {
    const { accepted, narrow = '', rejected = {} } = typeof one === 'string' ? { accepted: one } : one
    for (const secret of [accepted, narrow, ...Object.values(rejected)])
      if (secret !== '') found.set(secret, credentialsPlaceholder)
  }
  return new Map([...found, ...environmentSecrets(process.env)])
}
