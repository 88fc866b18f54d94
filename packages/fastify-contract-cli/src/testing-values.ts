// Values from schemas for the tests of the other packages of this repository. It may change in any version.
export { filterOrThrow, isFoundInSample } from './contract-test/values/arbitrary.ts'
export { Generator } from './contract-test/values/generator.ts'
export { notIJson, notJson } from './contract-test/values/invalid-json.ts'
export { type Json, jsonText, type Members, styles } from './contract-test/values/json-notations.ts'
export { ReferenceValidator } from './contract-test/values/reference-validator.ts'
export type { SchemaViolation } from './contract-test/values/schema-violation.ts'
