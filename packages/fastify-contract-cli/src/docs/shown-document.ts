import { resolve } from '../document/json-pointer.ts'
import { type Document, endpoints, type Server, serverUrl } from '../document/openapi-document.ts'
import type { Node } from '../document/walk-document.ts'
import { type Sampled, withCodeSamples } from './code-samples.ts'
import { type StandIn, withStandIns } from './integer-stand-ins.ts'
import { withServiceHeaders } from './service-headers.ts'

/** What the script of the documentation page needs beside the document, as the extension `x-page` of its copy. */
export type PageData = {
  /** The origins of the document's servers, in the place of which the page of a service shows the service's. */
  origins: string[]
  /** The integers that JavaScript rounds. */
  integers: StandIn[]
}

/**
 * Returns a published document as its documentation page shows it: with the headers that the service adds, samples, a
 * tag for each operation, and what the script of the page needs.
 *
 * @param clientModule The module that the samples import createClient from.
 * @param compiled What the document was compiled to; by default it is compiled again.
 */
export function shownDocument(published: Document, clientModule: string, compiled?: Sampled): Document {
  const copy = withTags(withCodeSamples(withServiceHeaders(published), clientModule, compiled))
  const urls = endpoints(copy).map(({ server }) => server)
  for (const holder of serverHolders(copy)) {
    if (holder.servers === undefined) continue
    urls.push(...holder.servers.map((server) => serverUrl([server])))
    holder.servers = holder.servers.map((server) => ({ ...server, 'x-base-path': basePath(server) }))
  }
  // URLs of other schemes may have no origin.
  const origins = [...new Set(urls.map((url) => new URL(url).origin))].filter((origin) => origin !== 'null')
  const { value, integers } = withStandIns(copy)
  return { ...value, 'x-page': { origins, integers } satisfies PageData } as Document
}

const basePath = (server: Server): string => new URL(serverUrl([server])).pathname.replace(/\/$/, '')

/** Returns the objects of a document that may have servers: the document, its path items and its operations. */
function serverHolders(document: Document): { servers?: Server[] }[] {
  const { paths, components } = document as { paths?: Node; components?: { pathItems?: Node } }
  const items = [...Object.values(paths ?? {}), ...Object.values(components?.pathItems ?? {})] as Node[]
  return [document, ...items, ...endpoints(document).map(({ pointer }) => resolve(document, pointer) as Node)]
}

/** The tag of operations without one, if the document has no tag of this name. */
const untagged = 'Operations'

/**
 * Returns a document in which each operation has a tag, and each tag is declared: Redoc shows other operations, and those
 * of other tags, after all schemas. If the document groups its tags, nothing is added, since no group would contain it.
 */
function withTags(document: Document): Document {
  if ('x-tagGroups' in document) return document
  const tags = [...((document as { tags?: { name: string }[] }).tags ?? [])]
  const names = new Set(tags.map(({ name }) => name))
  for (const { pointer } of endpoints(document)) {
    const operation = resolve(document, pointer) as { tags?: string[] }
    if (operation.tags === undefined || operation.tags.length === 0) operation.tags = [untagged]
    for (const name of operation.tags) {
      if (!names.has(name)) tags.push({ name })
      names.add(name)
    }
  }
  return { ...document, tags } as Document
}
