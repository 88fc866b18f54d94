import { methods } from './openapi-grammar.ts'

/** An operation of a path item: its HTTP method, and the keys that lead to it. */
export type OperationPlace = { method: string; keys: string[] }

/** Returns the operations of a path item, including the additionalOperations of OpenAPI 3.2. */
export const operationsIn = (item: object): OperationPlace[] => [
  ...methods.filter((name) => Object.hasOwn(item, name)).map((name) => ({ method: name.toUpperCase(), keys: [name] })),
  ...Object.keys(Object((item as { additionalOperations?: object }).additionalOperations)).map((method) => ({
    method,
    keys: ['additionalOperations', method],
  })),
]
