export {
  comparedKeywords,
  exactKeyword,
  ignoredKeyword,
  integerBounds,
  isIgnored,
  isIntegerFormat,
  linearKeyword,
  mixedFormat,
  roundingMessages,
} from './schema/exact-keywords.ts'
export { linearPattern } from './schema/linear-pattern.ts'
export { mergeKeywords } from './schema/merged-keywords.ts'
export { evaluateSchemaCode, loadSchemaCode, schemaCode } from './schema/schema-code.ts'
export {
  compilePattern,
  formats,
  hasFormat,
  type PatternAlternative,
  type PatternElement,
  syntaxOf,
} from './schema/string-keywords.ts'
export { type CompiledSchemas, createValidator, type Validator } from './schema/validator.ts'
