import type { PreconditionRules } from 'fastify-contract/contract'
import { resolve } from '../document/json-pointer.ts'
import { type Document, type Endpoint, endpoints } from '../document/openapi-document.ts'
import { preconditionsOf } from '../document/preconditions.ts'
import type { Node } from '../document/walk-document.ts'
import { asOpenApi31 } from '../passes/openapi-3-1.ts'

/** A header parameter: its name, its description and an example. */
type Shown = [name: string, description: string, example: string]

const date = 'Sun, 06 Nov 1994 08:49:37 GMT'

/**
 * Adds the headers of the preconditions that the service evaluates to the parameters of each operation of a published
 * document, as its documentation page shows them. A header that the document describes itself is left as it is.
 */
export function addPreconditionParameters(published: Document): void {
  const document = asOpenApi31(published)
  for (const endpoint of endpoints(document)) {
    const rules = preconditionsOf(document, endpoint)
    if (rules === undefined) continue
    const operation = resolve(published, endpoint.pointer) as Node & { parameters?: object[] }
    const added = shownHeaders(rules).filter(([name]) => !isDescribed(endpoint, name))
    operation.parameters = [...(operation.parameters ?? []), ...added.map(parameterOf)]
  }
}

const isDescribed = ({ parameters }: Endpoint, name: string): boolean =>
  parameters.some((one) => one.in === 'header' && one.name.toLowerCase() === name.toLowerCase())

const parameterOf = ([name, description, example]: Shown): object => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
  example,
})

function shownHeaders({ of, statuses, validators, isRequired }: PreconditionRules): Shown[] {
  const [hasTag, hasDate] = [validators.includes('etag'), validators.includes('lastModified')]
  const one = isRequired ? ' A request without a precondition gets 428.' : ''
  const shown: Shown[] = []
  if (of === 'read' && statuses.includes(304)) {
    if (hasTag) shown.push(['If-None-Match', 'The ETag of an earlier response: 304 if it is still current.', '"v1"'])
    if (hasDate)
      shown.push(['If-Modified-Since', 'The Last-Modified of an earlier response: 304 if it is still current.', date])
  }
  if (of === 'write') {
    const text = `* allows only to create the resource: 412 if it exists.${hasTag ? '' : one}`
    shown.push(['If-None-Match', text, '*'])
  }
  if (statuses.includes(412)) {
    if (hasTag) shown.push(['If-Match', `The ETag of the expected state: 412 if it is another one.${one}`, '"v1"'])
    if (hasDate) {
      const text = `The Last-Modified of the expected state: 412 if it changed later.${hasTag ? '' : one}`
      shown.push(['If-Unmodified-Since', text, date])
    }
  }
  return shown
}
