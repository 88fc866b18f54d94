/** The body of a request that creates a plant. */
const body = '{"id":1,"name":"Monstera deliciosa","tag":"indoor"}'

/** Returns a curl command that creates a plant in the service at `url`. */
export const exampleRequest = (url: string, token: string): string =>
  `curl -X POST ${url}/plants -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '${body}'`

/**
 * Returns the HTTP requests that the warm-up sends. Their handlers really run, with a store that keeps nothing. So add
 * no operation whose handler changes anything but the store.
 */
export const warmUpRequests = (token: string): string[] => [
  `POST /plants HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nX-Request-Id: warm-up\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
]
