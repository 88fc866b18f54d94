import type { ReportContext } from '../../../src/contract-test/reports/report-context.ts'
import type {
  ContractTestResult,
  OperationName,
  ShownRequest,
  TestFailure,
} from '../../../src/contract-test/results.ts'

/** Text of a document or a server that would have an effect in a terminal, a shell, XML or a workflow of GitHub. */
export const hostile =
  "\x1b[31m]]>&<a>\"%0A\n::error::x\r$(touch pwned)`touch pwned`'; touch pwned; '\0\ud800\u202e%s\\"

export const context: ReportContext = {
  server: 'http://127.0.0.1:3000',
  placeOf: ({ operationId }) => (operationId === 'createPet' ? 'a,b/openapi.yaml:7:5' : undefined),
  repeat: ({ operationId }) => `fastify-contract test --seed 7 --operation '${operationId}'`,
}

export const request = (more: Partial<ShownRequest> = {}): ShownRequest => ({
  method: 'POST',
  target: '/pets?key=CREDENTIALS&a[]=1',
  headers: [
    ['authorization', 'Bearer CREDENTIALS'],
    ['content-type', 'application/json'],
  ],
  body: Buffer.from('{"name":"it\'s"}'),
  ...more,
})

export function failure(operation: OperationName, more: Partial<TestFailure> = {}): TestFailure {
  return {
    check: 'no-server-error',
    operation,
    kind: '500',
    expected: 'a status below 500',
    got: '500',
    violation: undefined,
    source: 'boundary',
    request: request(),
    response: { status: 500, headers: { via: ['a', 'b'] }, body: Buffer.from([0xff]), milliseconds: 2.4 },
    earlier: [],
    repeats: 0,
    after: { requests: 3, seconds: 0.5 },
    seed: 7,
    ...more,
  }
}

/** Returns the result of a run with these failures of `createPet`; a check of `getPet` is off, and `list` is untested. */
export function resultOf(failures: (operation: OperationName) => TestFailure[]): ContractTestResult {
  const [create, get, list] = [
    { operationId: 'createPet', method: 'POST', path: '/pets' },
    { operationId: 'getPet', method: 'GET', path: '/pets/{id}' },
    { operationId: 'list', method: 'GET', path: '/pets' },
  ] as const
  const found = failures(create)
  const names = [...new Set(['no-server-error', 'repeated-get', ...found.map(({ check }) => check)])]
  return {
    title: 'Pets',
    version: '1.2.0',
    target: 'the application in this process',
    seed: 7,
    requests: 120,
    shrinkRequests: 9,
    seconds: 1.26,
    end: 'complete',
    operations: [
      { ...create, requests: 80, failures: found, off: [], untested: undefined },
      {
        ...get,
        requests: 40,
        failures: [],
        off: [{ check: 'repeated-get', reason: 'it has a clock' }],
        untested: undefined,
      },
      { ...list, requests: 0, failures: [], off: [], untested: 'no credentials' },
    ],
    checks: names.map((check) => ({ check, summary: 'A sentence.', looked: 120, failures: 0 })),
    failures: found,
    longestGap: undefined,
  }
}
