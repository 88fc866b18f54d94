import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { Schema } from '../contract/schema-keywords.ts'
import type { JsonDocument } from '../json/json-document.ts'
import { maxDepth, parseJson } from '../json/parse-json.ts'
import { stringifyJson } from '../json/write-json.ts'
import { jsonSchema } from './json-schema.ts'

/**
 * A schema of the document as a Standard Schema and a Standard JSON Schema (version 1.1), which forms, tRPC and
 * MCP servers take. `Output` is the type of its valid values, which int64 integers leave as bigint.
 */
export interface StandardSchema<Input, Output = Input> {
  readonly '~standard': StandardProps<Input, Output>
}

interface StandardProps<Input, Output>
  extends StandardSchemaV1.Props<Input, Output>,
    StandardJSONSchemaV1.Props<Input, Output> {
  /** Unlike other implementations, it never returns a promise. */
  readonly validate: (value: unknown) => StandardSchemaV1.Result<Output>
}

/** What is wrong with a part of a document: its JSON pointer, and a message. */
export type Problem = { pointer: string; message: string }

/**
 * Returns a schema as a Standard Schema.
 *
 * @param convert Validates a document, and converts a valid one in place. Returns the problems of an invalid one.
 */
export function standardSchema<Input, Output>(
  schemas: Record<string, Schema>,
  schema: Schema,
  convert: (document: JsonDocument) => Problem[],
): StandardSchema<Input, Output> {
  const toJsonSchema = ({ target }: StandardJSONSchemaV1.Options) => jsonSchema(schemas, schema, target)
  return {
    '~standard': {
      version: 1,
      vendor: 'fastify-contract',
      validate: (value) => validated(value, convert) as StandardSchemaV1.Result<Output>,
      jsonSchema: { input: toJsonSchema, output: toJsonSchema },
    },
  }
}

function validated(value: unknown, convert: (document: JsonDocument) => Problem[]): StandardSchemaV1.Result<unknown> {
  const unsafe: Path[] = []
  const notJson = jsonProblem(value, [], unsafe)
  if (notJson !== undefined) return { issues: [notJson] }
  // A copy, since the conversion changes the value in place.
  const document = parseJson(stringifyJson(value) as string)
  const problems = convert(document)
  if (problems.length > 0) return { issues: issuesOf(problems, document.value) }
  const rounded = unsafe.find((path) => typeof valueAt(document.value, path) === 'bigint')
  return rounded === undefined ? { value: document.value } : { issues: [{ message: unsafeMessage, path: rounded }] }
}

type Path = (string | number)[]

const unsafeMessage = `must be a bigint, or an integer up to ${Number.MAX_SAFE_INTEGER}: a larger number may have been rounded`

/**
 * Returns the issue of the first part of a value that JSON does not have; undefined if there is none. Adds the paths of
 * integers beyond the safe ones to `unsafe`: the integer that was meant is unknown.
 */
function jsonProblem(value: unknown, path: Path, unsafe: Path[]): StandardSchemaV1.Issue | undefined {
  if (typeof value === 'number') {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) unsafe.push(path)
    return Number.isFinite(value) ? undefined : { message: 'must be a finite number', path }
  }
  if (typeof value === 'string') return isExchanged(value) ? undefined : { message: textMessage, path }
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return undefined
  const isList = Array.isArray(value)
  if (!isList && !isPlain(value)) return { message: 'must be a JSON value', path }
  if (path.length === maxDepth) return { message: `must not be nested deeper than ${maxDepth} levels`, path }
  for (const key of isList ? value.keys() : Object.keys(value)) {
    const member = (value as Record<string | number, unknown>)[key]
    // JSON.stringify leaves out such a member, too, and a form has one for each empty field.
    if (member === undefined && !isList) continue
    const place = [...path, key]
    if (typeof key === 'string' && !isExchanged(key)) return { message: `the name ${textMessage}`, path: place }
    const problem = jsonProblem(member, place, unsafe)
    if (problem !== undefined) return problem
  }
  return undefined
}

const textMessage = 'must contain neither U+0000 nor a lone surrogate'

/** Returns whether a text is accepted in a JSON body, too (RFC 7493 section 2.1). */
const isExchanged = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** Returns whether a value is an object of no class. */
const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && [Object.prototype, null].includes(Object.getPrototypeOf(value))

/** Returns the value at a path; undefined if a part of the path is not there any more. */
function valueAt(value: unknown, path: Path): unknown {
  let at = value
  for (const key of path) at = (at as Record<string | number, unknown> | undefined)?.[key]
  return at
}

/** Returns the issues of problems, without repetitions. */
function issuesOf(problems: Problem[], value: unknown): StandardSchemaV1.Issue[] {
  const issues = new Map<string, StandardSchemaV1.Issue>()
  for (const { pointer, message } of problems)
    issues.set(`${pointer} ${message}`, { message, path: pathOf(pointer, value) })
  return [...issues.values()]
}

/** Returns the path of a JSON pointer (RFC 6901): names of members, and indexes of items. */
function pathOf(pointer: string, value: unknown): Path {
  const path: Path = []
  for (const escaped of pointer.split('/').slice(1)) {
    const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
    path.push(Array.isArray(valueAt(value, path)) ? Number(name) : name)
  }
  return path
}
