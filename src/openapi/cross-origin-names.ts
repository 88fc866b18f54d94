import type { CrossOrigin } from '../http/cors.ts'
import type { Routes } from './routes.ts'

/** Headers that clients send to any operation. */
const ofRequests = ['Authorization', 'Content-Type', 'Traceparent', 'Tracestate', 'X-Request-Id']

/** Headers of errors that no operation need name. */
const ofErrors = ['Accept', 'Allow', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id']

/**
 * Returns the methods and headers of all operations, which pages of other origins may use on every path: so they read
 * the 404 or 405 of a wrong request.
 */
export function crossOriginNames({
  operations,
  apiKeyHeaders = [],
}: Pick<Routes, 'operations' | 'apiKeyHeaders'>): Omit<CrossOrigin, 'origins'> {
  const parameters = operations.flatMap((operation) => operation.parameters).filter((one) => one.in === 'header')
  const responses = operations.flatMap(({ schema }) => Object.values(schema.response))
  return {
    methods: distinct(operations.map(({ method }) => String(method))),
    requestHeaders: distinct([...ofRequests, ...apiKeyHeaders, ...parameters.map(({ name }) => name)]),
    responseHeaders: distinct([...ofErrors, ...responses.flatMap(({ headers = {} }) => Object.keys(headers))]),
  }
}

/** Returns names in alphabetical order, without those that differ from an earlier one by case alone. */
const distinct = (names: string[]): string[] =>
  names.filter((name, index) => names.findIndex((one) => one.toLowerCase() === name.toLowerCase()) === index).sort()
