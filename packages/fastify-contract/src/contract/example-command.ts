import type { Routes } from './routes.ts'

/** What stands for the URL of the service and for a token in the example of a contract. */
export const examplePlaceholders = { url: 'http://service.invalid', token: '~access-token~' }

/** Returns the example of a contract as a command that calls the service at `url` with a token; undefined without one. */
export const exampleCommand = ({ example }: Routes, url: string, token: string): string | undefined =>
  example
    ?.replace(examplePlaceholders.url, () => url)
    .replaceAll(examplePlaceholders.token, () => token)
    .replaceAll(basicCredentials(examplePlaceholders.token), () => basicCredentials(token))

/** Returns HTTP Basic's credentials with a token as the password of the client that `listVerifier` names. */
export const basicCredentials = (token: string): string => Buffer.from(`access-token-1:${token}`).toString('base64')
