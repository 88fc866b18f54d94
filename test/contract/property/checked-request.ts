import assert from 'node:assert/strict'
import type { SendAndCheck } from 'fastify-contract-test-support/requests/run-cases'
import { type Client, checkStatus } from 'fastify-contract-test-support/requests/service-client'
import type { Assertions } from 'fastify-contract-test-support/response-validator'
import { assertContractResponse } from '../../support/contract.ts'

/** Assertions that throw: fast-check tries a smaller request only if the property rejects. */
const strictly: Assertions = {
  ok: (value, ...message) => assert.ok(value, ...message),
  equal: assert.equal,
  same: assert.deepEqual,
  type: (value, type) => assert.equal(typeof value, type),
  match: (value, pattern) => assert.match(String(value), pattern),
}

/** Returns a function that sends a request to the service and checks the response against the contract. */
export const checkedRequest =
  ({ send }: Client): SendAndCheck =>
  async ({ endpoint, error }, sent) => {
    const { method } = endpoint
    const reply = await send(method, sent)
    checkStatus(reply, error, endpoint)
    assertContractResponse(strictly, { ...reply, method, path: sent.path })
  }
