// Values from schemas for the tests of the other packages of this repository. It may change in any version.
export type { TestRequest, Violation } from './contract-test/exchange.ts'
export { requestMaker } from './contract-test/requests/requests-of.ts'
export { Generator } from './contract-test/values/generator.ts'
export { notIJson, notJson } from './contract-test/values/invalid-json.ts'
export { type Json, jsonText, type Members, styles } from './contract-test/values/json-notations.ts'
export { ReferenceValidator } from './contract-test/values/reference-validator.ts'
