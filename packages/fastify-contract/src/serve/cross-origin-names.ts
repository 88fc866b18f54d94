import type { CrossOrigin } from '../http/cors.ts'
import type { Routes } from './routes.ts'

/** Request headers that clients may send to any operation. */
const commonHeaders = ['Authorization', 'Content-Type', 'Traceparent', 'Tracestate', 'X-Request-Id']

/** Response headers of errors, which operations need not declare. */
const errorHeaders = ['Accept', 'Allow', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id']

/**
 * Returns the methods and headers of all operations. Pages of other origins may use them on every path, so that they
 * can read the 404 or 405 of a wrong request.
 */
export function crossOriginNames({
  operations,
  apiKeyHeaders = [],
}: Pick<Routes, 'operations' | 'apiKeyHeaders'>): Omit<CrossOrigin, 'origins'> {
  const parameters = operations.flatMap((operation) => operation.parameters).filter((one) => one.in === 'header')
  const responses = operations.flatMap(({ schema }) => Object.values(schema.response))
  return {
    methods: distinct(operations.map(({ method }) => String(method))),
    requestHeaders: distinct([...commonHeaders, ...apiKeyHeaders, ...parameters.map(({ name }) => name)]),
    responseHeaders: distinct([...errorHeaders, ...responses.flatMap(({ headers = {} }) => Object.keys(headers))]),
  }
}

/** Returns names in alphabetical order, without duplicates regardless of case. */
const distinct = (names: string[]): string[] =>
  names.filter((name, index) => names.findIndex((one) => one.toLowerCase() === name.toLowerCase()) === index).sort()
