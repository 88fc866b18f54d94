import { readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { BuildContext } from '../driver.ts'
import { cargo } from './rust.ts'
import { isSameName, type Place } from './what-compiles.ts'

/** A function of generated code that sends an operation. */
export type RustFunction = {
  operation: string
  name: string
  parameters: {
    type: string
    /** The name of the parameter, or of the property of a form, in the document. Absent: the body. */
    source?: string
  }[]
  /** What the function returns if it succeeds, and if it fails. */
  result: string
  error: string
}

type Schema = { $ref?: string; required?: string[]; properties?: Record<string, object> }
type Operation = {
  operationId: string
  parameters?: { name: string; required?: boolean }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/**
 * Returns the functions of generated code that send operations.
 *
 * @param code Each function is `pub async fn NAME(PARAMETERS) -> Result<RESULT, ERROR>`.
 * @param isFormSplit Whether a function has a parameter for each property of a form.
 */
export function functionsOf(context: BuildContext, code: string, isFormSplit: boolean): RustFunction[] {
  const document: Document = JSON.parse(readFileSync(context.documentJson, 'utf8'))
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  const found = code.matchAll(/pub async fn (\w+)(?:<'a[^(]*>)?\(([^{;]*?)\) -> Result<([^{;]*?)> \{/g)
  return [...found].flatMap(([, name = '', parameters = '', results = '']) => {
    const operation = operations.find(({ operationId }) => isSameName(operationId, name))
    if (operation === undefined) return []
    const own = separated(parameters).filter((text) => !/^(?:&'a self|configuration:)/.test(text))
    const sources = sourcesOf(operation, document, isFormSplit)
    const [result = '', error = ''] = separated(results)
    return [{ operation: operation.operationId, name, parameters: matched(own, sources), result, error }]
  })
}

/** Returns the names of parameters and properties of forms, first those that are required. */
function sourcesOf({ parameters = [], requestBody }: Operation, document: Document, isFormSplit: boolean): string[] {
  const all = parameters.map(({ name, required = false }) => ({ name, required }))
  const [[mediaType, { schema }] = ['', { schema: {} as Schema }]] = Object.entries(requestBody?.content ?? {})
  if (isFormSplit && /form-data|urlencoded/.test(mediaType)) {
    const { properties = {}, required = [] } =
      document.components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema
    all.push(...Object.keys(properties).map((name) => ({ name, required: required.includes(name) })))
  }
  return [...all.filter(({ required }) => required), ...all.filter(({ required }) => !required)].map(({ name }) => name)
}

/** Matches the parameters of a function to names of the document: by their letters, or else by their order. */
function matched(parameters: string[], sources: string[]): RustFunction['parameters'] {
  const pairs = parameters.map((text) => {
    const [name = '', type = ''] = text.split(/: (.*)/s)
    return { name, type }
  })
  const others = sources.filter((source) => !pairs.some(({ name }) => isSameName(name, source)))
  return pairs.map(({ name, type }) => {
    const source = sources.find((each) => isSameName(name, each)) ?? others.shift()
    return source === undefined ? { type } : { type, source }
  })
}

/** Returns the parts of a list whose types may have commas. */
function separated(list: string): string[] {
  const parts = ['']
  let depth = 0
  for (const character of list) {
    if (/[<(]/.test(character)) depth++
    if (/[>)]/.test(character)) depth--
    if (character === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += character
  }
  return parts.map((part) => part.replaceAll(/\s+/g, ' ').trim()).filter((part) => part !== '')
}

/** Compiles a crate, and returns the places of its mistakes. */
export async function compileErrors(context: BuildContext, crate: string): Promise<Place[]> {
  const args = ['build', '--no-default-features', '--message-format=json', '-j2']
  const output = await cargo(context, args, crate).catch((error) => (error as Error).message)
  return output.split('\n').flatMap((text) => {
    if (!text.startsWith('{"reason":"compiler-message"')) return []
    const { level, message, spans }: CompilerMessage = JSON.parse(text).message
    const span = spans.find(({ is_primary: isPrimary }) => isPrimary)
    if (level !== 'error' || span === undefined) return []
    const file = isAbsolute(span.file_name) ? span.file_name : join(crate, span.file_name)
    return [{ file, line: span.line_start, message }]
  })
}

type CompilerMessage = {
  level: string
  message: string
  spans: { is_primary: boolean; file_name: string; line_start: number }[]
}
