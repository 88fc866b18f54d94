/** Reports why a text is not JSON or not I-JSON (RFC 7493), and at which character. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
}
