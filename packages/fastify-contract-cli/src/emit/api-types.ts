import { parseExactJson, stringifyJson } from 'fastify-contract/json'
import { join, keysOf } from '../document/json-pointer.ts'
import {
  type Document,
  type Endpoint,
  endpoints,
  itemAt,
  outgoingEndpoints,
  outgoingItems,
} from '../document/openapi-document.ts'
import type { Node } from '../document/walk-document.ts'
import { typeNames } from '../text/type-name.ts'
import { type Member, typePrinter } from '../typescript/print-types.ts'
import { quoted } from '../typescript/type-printer.ts'
import { partTypes } from './part-types.ts'

/**
 * Returns the types of a document with shared schemas as openapi-typescript writes them, adapted to what a handler
 * receives: an int64 is a bigint, since a double cannot hold every 64-bit integer; a file of a form is a Blob; keywords
 * beside a $ref apply; a property with a default is optional, since the service fills in the defaults of parameters
 * only. `operations` holds the served operations. `webhooks` holds what the service itself sends: webhooks, and each
 * callback under its operationId and name.
 */
export function contractTypes(document: Document): string {
  try {
    return typesOf(document)
  } catch (error) {
    // openapi-typescript decodes names, and throws for a percent sign that does not begin a percent-encoding.
    if (!(error instanceof URIError)) throw error
    const mark = unusedText(String(stringifyJson(document)), 'percent-')
    return typesOf(withoutPercentSigns(document, mark)).replaceAll(mark, '%')
  }
}

/** Returns a document in which a mark stands for each percent sign, except for those that encode the text of a $ref. */
function withoutPercentSigns(document: Document, mark: string): Document {
  const marked = (text: string) => text.replaceAll('%', mark)
  let whole = ''
  for (const text of String(stringifyJson(document)).split(/("\$ref":"(?:[^"\\]|\\.)*")/)) {
    const { $ref } = text.startsWith('"$ref":"') ? JSON.parse(`{${text}}`) : {}
    whole += $ref === undefined ? marked(text) : `"$ref":${JSON.stringify(join('#', ...keysOf($ref).map(marked)))}`
  }
  return parseExactJson(whole) as Document
}

/** Returns a text that another text does not contain. */
const unusedText = (text: string, begin: string): string =>
  text.includes(begin) ? unusedText(text, `${begin}-`) : begin

function typesOf(document: Document): string {
  const printer = typePrinter()
  const { schemaMembers, componentMembers, itemMembers, operationMembers } = partTypes(document, printer)
  const all = endpoints(document)
  const names = typeNames(all.map(({ operationId }) => operationId))
  const ids = new Map(all.map(({ method, path, operationId }) => [`${method} ${path}`, operationId]))
  const sent = new Map(outgoingEndpoints(document).map((each) => [`${each.method} ${each.operationId}`, each]))
  // Types get their names in this order.
  const schemas = schemaMembers()
  return printer.printed({
    paths: paths(),
    webhooks: Array.from(new Map(outgoingItems(document).map((each) => [each.name, each.item])), webhook),
    components: [schemas, ...componentMembers()],
    $defs: [],
    operations: all.map(operation),
  })

  function paths(): Member[] {
    const served = Object.keys(document.paths ?? {}).filter((path) => path.startsWith('/'))
    return served.map((path) => ({
      name: path,
      type: itemMembers(
        itemAt(document, path),
        (method) => `operations[${quoted(ids.get(`${method} ${path}`) as string)}]`,
      ),
    }))
  }

  function webhook([name, item]: [name: string, item: Node]): Member {
    const type = itemMembers(item, (method) => operationMembers(sent.get(`${method} ${name}`) as Endpoint, item))
    return { name, type }
  }

  function operation(endpoint: Endpoint): Member {
    const { operationId, path } = endpoint
    return { name: operationId, type: operationMembers(endpoint, itemAt(document, path), names.get(operationId)) }
  }
}
