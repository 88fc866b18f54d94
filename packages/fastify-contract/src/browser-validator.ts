/*
 * The validator of schemas without the server, for browsers.
 */
export type { StandardSchema } from './schema/standard-schema.ts'
export { createValidator, type Validator } from './schema/validator.ts'
