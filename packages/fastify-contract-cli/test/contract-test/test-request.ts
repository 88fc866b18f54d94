import type { TestRequest } from '../../src/contract-test/exchange.ts'

/** Returns a request for the tests of targets and of credentials: GET /pets, apart from what is given. */
export const testRequest = (given: Partial<TestRequest> = {}): TestRequest => ({
  operation: { server: '' } as TestRequest['operation'],
  method: 'GET',
  target: '/pets',
  headers: {},
  body: undefined,
  source: 'random',
  violation: undefined,
  values: { parameters: new Map(), body: undefined },
  ...given,
})
