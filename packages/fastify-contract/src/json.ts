export { integerOf, multipleTest } from './json/decimal.ts'
export { stringifyJson } from './json/json-document.ts'
export { parseJson } from './json/parse-json.ts'
