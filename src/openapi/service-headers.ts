/**
 * The response headers that the service itself sends, or that frame a message, in lower case: no handler gives them,
 * whatever a document says. OpenAPI ignores `Content-Type` there (3.1 section 4.8.17.1).
 */
export const serviceHeaders = [
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
] as const

export type ServiceHeader = (typeof serviceHeaders)[number]
