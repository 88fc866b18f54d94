/** An authenticated client: its name, and the scopes that its token grants (RFC 6749 section 3.3). */
export type Client = { readonly name: string; readonly scopes: readonly string[] }
