/**
 * The response headers, in lower case, that the service sends itself or that frame a message. Handlers cannot set them,
 * even if the document declares them. OpenAPI ignores a declared `Content-Type` (3.1 section 4.8.17.1).
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
