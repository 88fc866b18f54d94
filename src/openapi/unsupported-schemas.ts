import { type Document, join } from './document.ts'

type Node = Record<string, unknown>

/** Keywords by which a schema gets a name that is not its place (JSON Schema 2020-12, core, section 8.2). */
const names = ['$id', '$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveRef', '$schema']

/** What stands in a document as a value, not as a schema. */
const values = ['enum', 'const', 'default', 'example', 'examples']

/** Takes a bundled document; gives one line for each schema that could not be checked as it says. */
export function unservableSchemas({ paths, components, ...rest }: Document): string[] {
  const dialect = (rest as Node).jsonSchemaDialect
  const problems: string[] = []
  if (dialect !== undefined && !/oas\/3\.1\/dialect\/|json-schema\.org\/draft\/2020-12/.test(String(dialect))) {
    problems.push(`#/jsonSchemaDialect: ${dialect} is not read; leave it out`)
  }
  const visit = (node: unknown, place: string) => {
    if (typeof node !== 'object' || node === null) return
    problems.push(...schemaProblems(node as Node).map(([key, problem]) => `${join(place, key)}: ${problem}`))
    for (const [key, value] of Object.entries(node)) {
      if (!values.includes(key) && !key.startsWith('x-')) visit(value, join(place, key))
    }
  }
  visit(paths, '#/paths')
  visit(components, '#/components')
  return problems
}

function schemaProblems(node: Node): [key: string, problem: string][] {
  const problems: [string, string][] = []
  for (const key of names) {
    if (typeof node[key] === 'string') problems.push([key, 'is not read; refer to a schema by its place, with $ref'])
  }
  if (typeof node.$ref === 'string' && !/^#(\/|$)/.test(node.$ref)) {
    problems.push(['$ref', `${node.$ref} is not a place in the document; use one that begins with #/`])
  }
  const { pattern, patternProperties } = node
  const patterns = typeof pattern === 'string' ? [pattern] : []
  if (typeof patternProperties === 'object') patterns.push(...Object.keys(patternProperties as object))
  for (const one of patterns) {
    if (!isPattern(one)) problems.push(['pattern', `${one} is no regular expression of ECMA-262 with the flag u`])
  }
  return problems
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u').unicode
  } catch {
    return false
  }
}
