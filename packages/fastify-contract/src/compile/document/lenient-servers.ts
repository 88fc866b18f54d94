import type { Advise } from './lenient-parameters.ts'
import type { Document } from './openapi-document.ts'

export const withPlainServers = (document: Document, _advise: Advise): Document => document
