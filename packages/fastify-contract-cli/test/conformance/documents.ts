import type { Report } from 'fastify-contract-test-support/scenario-report'
import type { Scenario } from 'fastify-contract-test-support/scenario-runner'
import type { Document } from '../../src/document/openapi-document.ts'
import { type Call, callOperations } from './call-operations.ts'
import { exampleDocuments } from './example-documents.ts'
import { type Exceptions, exceptionsOf, reportExceptions } from './exceptions.ts'
import { type Generated, generateDocument } from './generated-documents.ts'
import { diagnosePrinted, isServed, printedHandlers, type Served } from './printed-handlers.ts'

export const documents: Scenario = {
  title: 'the OpenAPI documents of @readme/oas-examples: generated, compiled and called, with the printed handlers',
  run: (report, { directory }) => judgeDocuments(report, exampleDocuments(), directory, exceptionsOf('documents')),
}

/** Generates documents, compiles the handlers that are printed for them, and calls their operations over sockets. */
export async function judgeDocuments(
  report: Report,
  documents: [name: string, document: Document][],
  directory: string,
  exceptions: Record<string, Exceptions>,
): Promise<void> {
  const generated: Generated[] = []
  for (const [name, document] of documents)
    await generateDocument(name, document).then(
      (one) => generated.push(one),
      (error: Error) => process.stderr.write(`${name}: ${error.stack}\n`),
    )
  const served = generated.filter(isServed)
  const cut = generated.filter((one) => one.served < one.operations || !isServed(one))
  report.figure('documents', documents.length)
  report.zero('documents that crash generation', documents.length - generated.length)
  report.figure('documents generated whole', generated.length - cut.length)
  report.figure('operations', sum(generated.map(({ operations }) => operations)))
  report.figure('operations generated', sum(generated.map(({ served }) => served)))
  const refused = cut.map((one) => `${one.name}: ${one.operations - one.served} of ${one.operations} operations`)
  reportExceptions(
    report,
    'documents with rejected operations',
    refused,
    exceptions['documents with rejected operations'],
  )
  const findings = diagnosePrinted(served)
  for (const finding of findings) process.stderr.write(`${finding}\n`)
  report.zero('errors of the compiler', findings.length)
  await judgeCalls(report, served, directory, exceptions['responses that violate the document'])
}

async function judgeCalls(
  report: Report,
  served: Served[],
  directory: string,
  exceptions: Exceptions | undefined,
): Promise<void> {
  const calls: Call[] = []
  for (const one of served) calls.push(...(await callOperations(one, await printedHandlers(one, directory))))
  const problems = calls.flatMap(({ name, problem }) =>
    problem === undefined ? [] : [[name, `${problem}\n`] as const],
  )
  report.figure('operations called', calls.length)
  report.figure('operations called by an example', calls.filter(({ byOwnExample }) => byOwnExample).length)
  report.notZero('responses that match the document', calls.length - problems.length)
  const names = problems.map(([name]) => name)
  reportExceptions(report, 'responses that violate the document', names, exceptions, Object.fromEntries(problems))
}

const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0)
