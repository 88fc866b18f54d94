import { acceptsValid } from './accepts-valid.ts'
import { authenticateHeader } from './authenticate-header.ts'
import type { NamedCheck, Probe, ResponseCheck } from './check.ts'
import { conditionalRequests } from './conditional-requests.ts'
import { documentedHeaders } from './documented-headers.ts'
import { documentedMediaType } from './documented-media-type.ts'
import { documentedStatus } from './documented-status.ts'
import { emptyBody } from './empty-body.ts'
import { headAsGet } from './head-as-get.ts'
import { keepsReadOnly } from './keeps-read-only.ts'
import { noServerError } from './no-server-error.ts'
import { noWriteOnly } from './no-write-only.ts'
import { rejectionChangesNothing } from './rejection-changes-nothing.ts'
import { rejectsInvalid } from './rejects-invalid.ts'
import { repeatedGet } from './repeated-get.ts'
import { repeatedKey } from './repeated-key.ts'
import { requiresCredentials } from './requires-credentials.ts'
import { survivesCutRequest } from './survives-cut-request.ts'
import { unknownMethod } from './unknown-method.ts'
import { validBody } from './valid-body.ts'

/** The checks of each response. */
export const responseChecks: ResponseCheck[] = [
  noServerError,
  documentedStatus,
  documentedMediaType,
  documentedHeaders,
  validBody,
  emptyBody,
  noWriteOnly,
  rejectsInvalid,
  acceptsValid,
  authenticateHeader,
]

/** The checks that send requests of their own, once for each operation that accepted a request. */
export const probes: Probe[] = [
  requiresCredentials,
  unknownMethod,
  headAsGet,
  repeatedGet,
  keepsReadOnly,
  conditionalRequests,
  repeatedKey,
  rejectionChangesNothing,
  survivesCutRequest,
]

export const completeResponse: NamedCheck = {
  name: 'complete-response',
  summary: 'The server sends a complete and valid response to each request within the time limit.',
}

export const eventLoopGap: NamedCheck = {
  name: 'event-loop-gap',
  summary: 'No request blocks the event loop of a server in this process for longer than the bound.',
}

export const createdIsReadable: NamedCheck = {
  name: 'created-is-readable',
  summary: 'What was created can be read at its path, and where links of the document lead.',
}

export const writtenIsRead: NamedCheck = {
  name: 'written-is-read',
  summary: 'What is read has the values that were written.',
}

export const deletedIsGone: NamedCheck = {
  name: 'deleted-is-gone',
  summary: 'What was deleted can no longer be read.',
}

/** All checks, in the order of the list in the documentation. */
export const checks: NamedCheck[] = [
  completeResponse,
  ...responseChecks,
  ...probes,
  createdIsReadable,
  writtenIsRead,
  deletedIsGone,
  eventLoopGap,
].map(({ name, summary }) => ({ name, summary }))
