import t from 'tap'
import type { Exchange } from '../../../src/contract-test/exchange.ts'
import { identifyingValue } from '../../../src/contract-test/sequences/identifying-value.ts'
import type { Endpoint } from '../../../src/document/openapi-document.ts'
import { testRequest } from '../test-request.ts'

t.test('the identifier in a Location is found below a prefix', (t) => {
  for (const [location, path, expected] of [
    ['/pets/7', '/pets/{id}', '7'],
    ['/v1/pets/7', '/pets/{id}', '7'],
    ['https://pets.example/api/v1/pets/7/', '/pets/{id}', '7'],
    ['/7', '/{id}', '7'],
    ['/v1/7', '/{id}', '7'],
    ['/v1/owners/7', '/pets/{id}', undefined],
    ['/', '/{id}', undefined],
  ]) {
    const response = { status: 201, headers: { location: String(location) }, body: new Uint8Array(), milliseconds: 0 }
    const exchange: Exchange = { request: testRequest({}), response }
    t.equal(identifyingValue(exchange, { path } as Endpoint, 'id'), expected, String(location))
  }
  t.end()
})
