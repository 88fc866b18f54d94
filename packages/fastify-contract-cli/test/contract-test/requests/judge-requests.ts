import * as fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import type { AnyHandler, VerifierFactory } from 'fastify-contract'
import { ContractError } from 'fastify-contract'
import { type Contract, isStream } from 'fastify-contract/contract'
import { parseExactJson } from 'fastify-contract/json'
import type { TestRequest, Violation } from '../../../src/contract-test/exchange.ts'
import { requestMaker } from '../../../src/contract-test/requests/requests-of.ts'
import { type Document, endpoints } from '../../../src/document/openapi-document.ts'
import { apiKeyHeaders, scopesOf } from '../../../src/document/security-schemes.ts'
import { compileDocument } from '../../../src/emit/compile.ts'
import { normalizedDocument } from '../../../src/passes/normalize.ts'
import { serveRoutes } from '../../support/serve-document.ts'

/** What the engine did with the requests of a document. */
export type Verdict = {
  requests: { valid: number; invalid: number }
  /** Requests that got the wrong kind of response. */
  problems: string[]
  /** The violations of which requests were sent, with their operations. */
  violations: string[]
  /** Parts of which no value was made. */
  unmade: string[]
}

/** Responds with 501, which no other part of the service does, after it has read the parts of a body. */
const handler: AnyHandler = async ({ body }: { body: unknown }) => {
  if (isStream(body)) for await (const _part of body);
  throw new ContractError('notImplemented', 'accepted')
}

type Options = { isOwn: boolean; runs: number; seed?: number }

/** Sends the requests of each operation of a document to the engine: it must accept those that are valid only. */
export async function judgeRequests(name: string, document: Document, options: Options): Promise<Verdict> {
  const { contract } = await compileDocument(document, name, { skipUnsupported: true })
  return judgeContract(contract, options)
}

/** Judges the requests of a contract as `judgeRequests` does. */
export async function judgeContract(contract: Contract, { isOwn, runs, seed = 1 }: Options): Promise<Verdict> {
  const document = normalizedDocument(parseExactJson(contract.documentText) as Document)
  const served = new Set(contract.routes.operations.map(({ operationId }) => operationId))
  const all = endpoints(document).filter(({ operationId }) => served.has(operationId))
  const anybody = { name: 'anybody', scopes: scopesOf(document) }
  const allow: VerifierFactory = () => (_request, done) => done(undefined, anybody)
  const schemes = all.flatMap(({ security }) => security.flatMap(Object.keys))
  const app = serveRoutes(contract.routes, {
    handlers: Object.fromEntries(all.map(({ operationId }) => [operationId, handler])),
    verifiers: Object.fromEntries(schemes.map((scheme) => [scheme, allow])),
  })
  // Some documents describe an API key as a parameter, too: the credentials of a test fill it.
  const keys = apiKeyHeaders(document)
  const maker = requestMaker(document, { isOwn })
  const verdict: Verdict = { requests: { valid: 0, invalid: 0 }, problems: [], violations: [], unmade: [] }
  try {
    for (const operation of all) {
      const { examples, boundaries, pairwise, random, invalid, unmade } = maker.requestsOf(operation)
      verdict.unmade.push(
        ...unmade.map(({ part, place, reason }) => `${operation.operationId} ${part} ${place}: ${reason}`),
      )
      const listed = [...examples, ...boundaries, ...pairwise]
      const valid = [...listed, ...(random ? fc.sample(random, { numRuns: runs, seed }) : [])]
      for (const request of valid) await judge(app, keys, request, verdict)
      verdict.violations.push(...invalid.map(({ violation }) => `${operation.operationId} ${textOf(violation)}`))
      for (const { requests } of invalid)
        for (const request of fc.sample(requests, { numRuns: Math.min(runs, 3), seed }))
          await judge(app, keys, request, verdict)
    }
  } finally {
    await app.close()
  }
  return verdict
}

const textOf = ({ part, place, reason }: Violation): string => `${part} ${place} ${reason}`

async function judge(app: FastifyInstance, keys: string[], request: TestRequest, verdict: Verdict): Promise<void> {
  const { method, target, headers, body, violation, source } = request
  const credentials = Object.fromEntries(keys.map((name) => [name, 'key']))
  const payload = body === undefined ? {} : { payload: Buffer.from(body) }
  const response = await app.inject({
    method: method as 'GET',
    url: target,
    headers: { ...credentials, ...headers },
    ...payload,
  })
  verdict.requests[violation === undefined ? 'valid' : 'invalid']++
  const { statusCode: status } = response
  if (violation === undefined ? status === 501 : status >= 400 && status < 500) return
  const reason = violation === undefined ? source : textOf(violation)
  const text = body === undefined ? '' : ` ${Buffer.from(body).toString().slice(0, 300)}`
  const { cookie, 'content-type': type, ...others } = headers
  verdict.problems.push(
    `${reason}: ${status} ${response.body.slice(0, 200)} for ${request.operation.operationId} ${method} ${target} ${JSON.stringify({ ...others, cookie, type })}${text}`,
  )
}
