export { integerOf, multipleTest } from './json/decimal.ts'
export { parseExactJson, wideInteger } from './json/exact-json.ts'
export { stringifyJson, withDoubles } from './json/json-document.ts'
export { parseJson } from './json/parse-json.ts'
