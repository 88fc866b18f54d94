import type { Operation, Schema } from 'fastify-contract/contract'
import type { Validator } from 'fastify-contract/schema'
import type { Document, Endpoint } from '../../document/openapi-document.ts'
import type { Exchange, Source, TargetFailure, TestRequest, TestResponse } from '../exchange.ts'

/** What responses are compared with. */
export type ResponseContract = {
  document: Document
  /** Whether the server is one of this engine, which promises more than HTTP and OpenAPI demand. */
  isOwn: boolean
  validator: Validator
  /** The shared schemas by name. */
  schemas: Record<string, Schema>
  routeOf(operation: Endpoint): Operation | undefined
  /** Returns whether the operation accepted an earlier request, of this source if one is given, with a status of 2xx. */
  hasAccepted(operation: Endpoint, source?: Source): boolean
}

/** What a check expected and found. `kind` tells failures of one check and operation apart. */
export type Found = { expected: string; got: string; kind: string }

/** A check of each response. */
export type ResponseCheck = {
  /** In kebab-case; names the check in reports and settings. */
  name: string
  /** A sentence for the list of the checks. */
  summary: string
  /** Returns what was expected and found; undefined if the response passes. */
  find(exchange: Exchange, contract: ResponseContract): Found | undefined
}

/** A failure that a check found by requests of its own: the last exchange, and the requests before it. */
export type FoundBySending = Found & {
  exchange: { request: TestRequest; response: TestResponse | undefined }
  earlier: TestRequest[]
}

/** What a check sends requests with. */
export type Tools = {
  contract: ResponseContract
  /** Sends a request with accepted credentials. Returns undefined if there is no response, which is then reported. */
  send(request: TestRequest): Promise<TestResponse | undefined>
  /** Sends a request with accepted credentials. Returns why there is no response, which is not reported. */
  attempt(request: TestRequest): Promise<TargetFailure | undefined>
  /** Sends a request with the credentials that it has, and checks the response like any other. */
  sendAsIs(request: TestRequest): Promise<TestResponse | undefined>
  /** Sends the first bytes of the body of a request with accepted credentials, and closes the connection. */
  sendCut: ((request: TestRequest, length: number) => Promise<void>) | undefined
  /** Returns requests that must get 401 or 403. */
  rejected(request: TestRequest): { request: TestRequest; status: 401 | 403; reason: string }[]
  /** Returns some invalid requests of the operation with a valid path, of different places first. */
  invalid(operation: Endpoint): TestRequest[]
  /** Returns a valid GET at the path of a request; undefined if there is no such operation, or no values for it. */
  readAt(request: TestRequest): TestRequest | undefined
  operations: Endpoint[]
}

/** A check that sends requests of its own, after one that got a response with a status of 2xx. */
export type Probe = {
  name: string
  summary: string
  probe(exchange: Exchange, tools: Tools): Promise<FoundBySending[]>
}

/** A check that a part of the run makes itself. */
export type NamedCheck = { name: string; summary: string }
