import type { Document } from '../../src/document/openapi-document.ts'
import { compositionVerdicts } from './composition-verdicts.ts'
import { constraintVerdicts } from './constraint-verdicts.ts'
import { discriminatorVerdicts } from './discriminator-verdicts.ts'
import { positions, type Verdict, type Version } from './expected-severity.ts'
import { notationVerdicts } from './notation-verdicts.ts'

export const verdicts: Verdict[] = [
  ...discriminatorVerdicts,
  ...compositionVerdicts,
  ...constraintVerdicts,
  ...notationVerdicts,
]

/** Returns a document with the schema of each edit, before or after the edit, at each position. */
export function documentOf(version: 'before' | 'after'): Document {
  const paths: Record<string, object> = {}
  const schemas: Record<string, unknown> = {}
  for (const [row, verdict] of verdicts.entries())
    for (const position of positions) {
      const prefix = `${position}${row}`
      const { schema, components = {} } = JSON.parse(
        JSON.stringify(verdict[version]).replaceAll('#$', `#/components/schemas/${prefix}`),
      ) as Version
      for (const [name, component] of Object.entries(components)) schemas[prefix + name] = component
      const content = { 'application/json': { schema } }
      paths[`/${prefix}`] = {
        post: {
          operationId: prefix,
          ...(position !== 'returned' && { requestBody: { required: true, content } }),
          responses: { 200: { description: 'Done.', ...(position !== 'sent' && { content }) } },
        },
      }
    }
  return { openapi: '3.1.0', info: { title: 'Verdicts', version: '1.0.0' }, paths, components: { schemas } }
}
