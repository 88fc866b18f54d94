import { JsonError } from 'fastify-contract'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import t, { type Test } from 'tap'
import { type Document, type Endpoint, endpoints } from '../../src/document/openapi-document.ts'
import { bodyValidator } from './body-validator.ts'
import { callOperations } from './call-operations.ts'
import { ajvVerdicts, type ServiceResponse } from './document-responses.ts'
import { judgeDocuments } from './documents.ts'
import { reportExceptions } from './exceptions.ts'
import { generateDocument } from './generated-documents.ts'
import { judgeSuite } from './json-schema.ts'
import { judgeTexts } from './json-texts.ts'
import type { Served } from './printed-handlers.ts'
import { suiteGroups } from './schema-suite.ts'

/** Returns a report that records, by name, the figures that are out of bounds. */
function recording(t: Test): Report & { wrong: Record<string, number> } {
  t.capture(process.stderr, 'write')
  const wrong: Record<string, number> = {}
  const judged = (isRight: (value: number) => boolean) => (name: string, value: number) => {
    if (!isRight(value)) wrong[name] = value
  }
  const zero = judged((value) => value === 0)
  const notZero = judged((value) => value > 0)
  const none = () => {}
  return { figure: none, zero, notZero, atMost: none, atLeast: none, notRun: none, failed: false, ran: true, wrong }
}

t.test('every deviation is listed, and every listed one still deviates', (t) => {
  const report = recording(t)
  reportExceptions(report, 'refused', ['a', 'b'], [{ reason: 'It is known.', cases: ['a', 'c'] }])
  t.same(report.wrong, { 'refused, not listed': 1, 'refused, listed but not found': 1 })
  t.end()
})

const groups = suiteGroups().filter(({ name }) => /^(minLength|anyOf): /.test(name))

t.test('the validator passes the JSON Schema Test Suite, one that accepts or rejects everything fails', async (t) => {
  const right = recording(t)
  await judgeSuite(right, groups, bodyValidator, {})
  t.same(right.wrong, {})
  for (const verdict of [true, false]) {
    const report = recording(t)
    await judgeSuite(report, groups, async () => () => verdict, {})
    t.ok((report.wrong['wrong where plain Ajv is right, not listed'] ?? 0) > 5)
  }
  const refusing = recording(t)
  await judgeSuite(refusing, groups, async () => undefined, {})
  t.same(refusing.wrong, { 'schemas rejected, not listed': groups.length, 'values right': 0 })
})

t.test('a parser that is too strict, too lax or wrong does not pass', (t) => {
  const texts = [
    { name: 'y_array.json', input: '[1]' },
    { name: 'n_array.json', input: '[1' },
    { name: 'i_number.json', input: '1e999' },
  ]
  const parsers: [parse: (text: string) => unknown, wrong: object][] = [
    [JSON.parse, {}],
    [
      () => JSON.parse(''),
      { 'JSON accepted': 0, 'JSON rejected, not listed': 1, 'optional texts rejected, not listed': 1 },
    ],
    [
      () => [1],
      { 'JSON parsed differently by JSON.parse': 1, 'invalid texts rejected': 0, 'invalid texts accepted': 1 },
    ],
  ]
  for (const [parse, wrong] of parsers) {
    const report = recording(t)
    const result = (text: string) => {
      try {
        return parse(text)
      } catch {
        throw new JsonError('refused')
      }
    }
    judgeTexts(report, texts, result, {})
    t.same(report.wrong, wrong)
  }
  t.throws(
    () => judgeTexts(recording(t), texts, () => Object(undefined).a.b, {}),
    TypeError,
    'a crash is not a rejection',
  )
  t.end()
})

const schema = { type: 'object', required: ['size'], properties: { size: { type: 'integer', example: 3 } } }
const content = { 'application/json': { schema } }
const document: Document = {
  openapi: '3.1.0',
  info: { title: 'Boxes', version: '1.0.0' },
  paths: {
    '/boxes': {
      put: { requestBody: { content }, responses: { 200: { description: 'The same.', content } } },
      trace: { responses: { 204: { description: 'Nothing.' } } },
    },
  },
}

t.test('a document is generated without its unsupported parts, compiled and called', async (t) => {
  const exceptions = {
    'documents with rejected operations': [
      { reason: 'TRACE is not served.', cases: ['boxes.json: 1 of 2 operations'] },
    ],
  }
  const report = recording(t)
  await judgeDocuments(report, [['boxes.json', document]], t.testdir(), exceptions)
  t.same(report.wrong, {})
  await judgeDocuments(report, [['none.json', null as never]], t.testdir(), {})
  t.same(report.wrong, { 'documents that crash generation': 1, 'responses that match the document': 0 })
})

t.test('an undocumented response is a problem', async (t) => {
  const served = (await generateDocument('boxes.json', document)) as Served
  const outcomes = [{ size: 1 }, { size: 'large' }].map((body) => async () => ({ status: 200, body }))
  const problems = []
  for (const putBoxes of outcomes) problems.push(...(await callOperations(served, { putBoxes })))
  t.match(problems, [{ problem: undefined }, { problem: /^500 is not listed/ }])

  const [endpoint] = endpoints(document) as [Endpoint]
  const plain = ajvVerdicts(document)
  const problemOf = (answer: Partial<ServiceResponse>) =>
    plain.problemOf(endpoint, {
      status: 200,
      contentType: 'application/json; charset=utf-8',
      body: '{"size":1}',
      ...answer,
    })
  t.equal(problemOf({}), undefined)
  t.match(problemOf({ body: '{"size":"large"}' }), /must be integer/)
  t.match(problemOf({ contentType: 'text/plain' }), /media type text\/plain/)
  t.match(problemOf({ status: 201 }), /^201 is not listed/)
  t.same(
    [{ size: 1 }, {}].map((value) => plain.isRequest(endpoint, 'application/json', JSON.stringify(value))),
    [true, false],
  )
})
