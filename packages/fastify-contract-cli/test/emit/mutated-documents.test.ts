import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { fixedSeed } from 'fastify-contract-test-support/fixed-seed'
import t from 'tap'
import { parse } from 'yaml'
import type { Document } from '../../src/document/openapi-document.ts'
import type { Node } from '../../src/document/walk-document.ts'
import { type Compiled, compileDocument } from '../../src/emit/compile.ts'
import { deriveErrorBody } from '../../src/init/error-body.ts'
import { mockServer } from '../../src/mock/mock-server.ts'
import { RejectedDocument } from '../../src/rules/problems.ts'
import { directory, names } from '../documents/served-documents.ts'
import { errorBody } from '../support/serve-document.ts'

/** The documents in one file, with which the tests have each object of OpenAPI. */
const documents = names
  .filter((name) => !['files', 'garden'].includes(name))
  .map((name) => parse(readFileSync(`${directory}/${name}/openapi.yaml`, 'utf8')) as object)

const values = [null, 0, -1.5, '', 'text', '#/nowhere', true, [], [null], ['a'], {}, { a: 1 }, { a: null }]
const references = ['#/components/schemas/None', '#/paths', '#/info', '#', 'a.yaml', 5].map(($ref) => ({ $ref }))
const keys = ['x-a', '$ref', '__proto__', 'constructor', '', '/', 'default', '200', 'get', 'schema', 'type', '$id']

/** A change at one of the places of a document, which `at` chooses, as `other` does a second one. */
type Mutation = {
  at: number
  other: number
  kind: 'delete' | 'set' | 'copy' | 'rename' | 'add' | 'case'
  key: string
  value: unknown
}

// Without bias: the first members are no more likely than others.
const place = fc.noBias(fc.nat(2 ** 31 - 1))

const mutations: fc.Arbitrary<Mutation> = fc.record({
  at: place,
  other: place,
  kind: fc.constantFrom('delete', 'set', 'copy', 'rename', 'add', 'case'),
  key: fc.constantFrom(...keys),
  value: fc.constantFrom<unknown>(...values, ...references),
})

type Place = { holder: Node; key: string }

const placesIn = (node: unknown): Place[] =>
  typeof node === 'object' && node !== null
    ? Object.entries(node).flatMap(([key, value]) => [{ holder: node as Node, key }, ...placesIn(value)])
    : []

/** Changes a document in place. */
function mutate(document: object, { at, other, kind, key: name, value }: Mutation): void {
  const places = placesIn(document)
  const { holder, key } = places[at % places.length] as Place
  const source = places[other % places.length] as Place
  const given = holder[key]
  const set = (key: string, value: unknown) =>
    Object.defineProperty(holder, key, {
      value: structuredClone(value),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  const isList = Array.isArray(holder)
  if (kind === 'set' || (kind === 'add' && isList)) set(key, value)
  else if (kind === 'copy') set(key, source.holder[source.key])
  else if (kind === 'add') set(name, value)
  else if (isList) holder.splice(Number(key), 1)
  else delete holder[key]
  if (kind === 'rename' && !isList) set(name, given)
  else if (kind === 'case' && !isList) set(key.toUpperCase(), given)
}

const compiled = (document: object): Promise<Compiled | RejectedDocument> =>
  compileDocument(document as Document, 'a.yaml', { skipUnsupported: true }, () => '').catch((error: Error) => {
    if (error instanceof RejectedDocument && !error.message.includes('too deeply')) return error
    throw error
  })

t.test('a document with mistakes anywhere is served, or rejected with their places and fixes', async (t) => {
  const counts = { served: 0, rejected: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...documents),
      fc.array(mutations, { minLength: 1, maxLength: 2 }),
      async (given, changes) => {
        const document = structuredClone(given)
        for (const change of changes) mutate(document, change)
        const outcome = await compiled(document)
        if (outcome instanceof RejectedDocument) {
          counts.rejected++
          return outcome.problems.every(({ pointer, text }) => pointer.startsWith('#') && text.length > 10)
        }
        counts.served++
        deriveErrorBody(outcome)
        const { app } = mockServer(outcome.contract, errorBody, {})
        await app.ready()
        await app.close()
        return true
      },
    ),
    { ...fixedSeed, numRuns: Number(process.env.PROPERTY_RUNS ?? 100) },
  )
  t.comment(counts)
  t.ok(counts.served > 40)
})

/** Returns the operations that the engine serves to anyone, by their names. */
const openIn = ({ routes }: Compiled): string[] =>
  routes.operations
    .filter(({ security }) => security.length === 0 || security.some((one) => Object.keys(one).length === 0))
    .map(({ operationId }) => operationId)

t.test('a mistake in a security requirement never opens an operation', async (t) => {
  const done = { 204: { description: 'Done.' } }
  const get = { operationId: 'a', responses: done, security: [{ key: [] }] }
  const inherited = { operationId: 'b', responses: done }
  const securitySchemes = { key: { type: 'apiKey', in: 'header', name: 'X-Key' } }
  const given = {
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    security: [{ key: ['all'] }],
    paths: { '/a': { get }, '/b': { get: inherited }, '/c': { get: { ...inherited, operationId: 'c', security: [] } } },
    components: { securitySchemes },
  }
  const places: ((document: typeof given) => [Node, string])[] = [
    (document) => [document, 'security'],
    (document) => [document.paths['/a'].get, 'security'],
    (document) => [document.components, 'securitySchemes'],
    (document) => [document.components.securitySchemes, 'key'],
    ({ security: [requirement] }) => [requirement as Node, 'key'],
  ]
  const texts = [' security', 'SECURITY', 'Securities', 'KEY', 'securityschemes']
  let served = 0
  for (const at of places)
    for (const value of [...values.filter((value) => JSON.stringify(value) !== '[]'), ...references, ...texts]) {
      const document = structuredClone(given)
      const [holder, key] = at(document)
      const before = holder[key]
      const isName = texts.includes(value as string)
      if (isName) delete holder[key]
      holder[isName ? (value as string) : key] = isName ? before : value
      // An empty object is an empty requirement, and so is said to be optional.
      const isOptional = key === 'security' && JSON.stringify(value) === '{}'
      const outcome = await compiled(document)
      if (outcome instanceof RejectedDocument || isOptional) continue
      served++
      t.same(openIn(outcome), ['c'], `${key}: ${JSON.stringify(value)}`)
    }
  t.ok(served > 20)
})
