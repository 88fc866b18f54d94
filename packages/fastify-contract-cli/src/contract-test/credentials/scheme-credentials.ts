/**
 * Credentials of a security scheme: a token, an API key, or `USER:PASSWORD` for HTTP Basic. They are secret, so no report
 * shows them.
 */
export type SchemeCredentials = {
  /** The server accepts them for each operation. */
  accepted: string
  /** Valid ones without any scope. */
  narrow?: string | undefined
  /** Those that must get 401, by what is wrong with them, such as `an expired token`. */
  rejected?: Record<string, string> | undefined
}

/** The credentials of a test, by the name of their security scheme. */
export type GivenCredentials = Record<string, string | SchemeCredentials>
