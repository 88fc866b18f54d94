import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'

type Document = { paths: Record<string, Record<string, { operationId: string }>>; components: Components }
type Components = { schemas: Record<string, unknown> }

/**
 * Writes the document of everything, as it is and in OpenAPI 3.0, in YAML and in JSON.
 *
 * @param omitted Operations that are left out, with the schemas that no other operation uses.
 */
export function writeDocuments(directory: string, omitted: string[] = []) {
  const document = withoutOperations(parse(readFileSync('test/clients/everything.yaml', 'utf8')), omitted)
  const older = { ...(toOpenApi30(document) as object), openapi: '3.0.3' }
  const write = (name: string, content: string): string => {
    const path = join(directory, name)
    writeFileSync(path, content)
    return path
  }
  return {
    document: write('everything.yaml', stringify(document, { aliasDuplicateObjects: false })),
    documentJson: write('everything.json', JSON.stringify(document, null, 1)),
    document30: write('everything-3.0.yaml', stringify(older, { aliasDuplicateObjects: false })),
    document30Json: write('everything-3.0.json', JSON.stringify(older, null, 1)),
  }
}

function withoutOperations({ paths, components, ...others }: Document, omitted: string[]): Document {
  const left = Object.entries(paths).filter(([, path]) =>
    Object.values(path).every(({ operationId }) => !omitted.includes(operationId)),
  )
  const document = { ...others, paths: Object.fromEntries(left), components: { ...components } }
  if (omitted.length === 0) return document
  const text = JSON.stringify(document)
  const used = Object.entries(components.schemas).filter(([name]) => text.includes(`#/components/schemas/${name}"`))
  return { ...document, components: { ...components, schemas: Object.fromEntries(used) } }
}

/** Returns a part of a document with `nullable` instead of the type null. */
function toOpenApi30(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(toOpenApi30)
  if (typeof part !== 'object' || part === null) return part
  const { type, ...others } = part as Record<string, unknown>
  const members = Object.fromEntries(Object.entries(others).map(([name, member]) => [name, toOpenApi30(member)]))
  if (!Array.isArray(type)) return { ...(type !== undefined && { type: toOpenApi30(type) }), ...members }
  return { type: type.find((name) => name !== 'null'), nullable: true, ...members }
}
