import type { PageData } from './shown-document.ts'

/** Matches the fenced code blocks of a text in Markdown (CommonMark 0.31 section 4.5). */
const codeBlocks = /^ {0,3}(`{3,}|~{3,})[^\n]*\n[\s\S]*?^ {0,3}\1/gm

/** What is read of a document that `shownDocument` returned, in which extensions have any content. */
type Shown = {
  info: object
  tags?: object[]
  paths?: Record<string, object>
  components?: { pathItems?: Record<string, object> }
  servers?: unknown
  'x-page': Pick<PageData, 'origins'>
}

/** An object of a document that may have code in its description, servers or samples. */
type Part = { description?: unknown; servers?: unknown; 'x-codeSamples'?: unknown }

/**
 * Changes a document so that its servers, its samples and the code in its descriptions name a service by its URL, which
 * is where the reader's browser reaches it.
 */
export function atService(document: object, service: string): void {
  const shown = document as Shown
  const names = shown['x-page'].origins.map((origin) => origin.replace(/\W/g, '\\$&'))
  const anyOrigin = new RegExp(`(?:${names.join('|')})(?![\\w:.-])`, 'g')
  const withAddress = (text: string) => text.replace(anyOrigin, () => service)
  shown.servers ??= [{ url: '', 'x-base-path': '' }]
  for (const part of partsOf(shown)) {
    if (typeof part.description === 'string') part.description = part.description.replace(codeBlocks, withAddress)
    for (const sample of objectsIn(part['x-codeSamples']) as { source?: unknown }[]) {
      if (typeof sample.source === 'string') sample.source = withAddress(sample.source)
    }
    const bases = objectsIn(part.servers).map((server) => (server as { 'x-base-path'?: string })['x-base-path'])
    if (bases.length === 0) continue
    part.servers = [...new Set(bases)].map((base) => ({ url: service + base, description: 'The service of this page' }))
  }
}

/** Returns the document, its tags, its path items and their operations. */
function partsOf(document: Shown): Part[] {
  const items = [...Object.values(document.paths ?? {}), ...Object.values(document.components?.pathItems ?? {})]
  const operations = items.flatMap((item: { additionalOperations?: object }) => [
    ...Object.values(item),
    ...Object.values(item.additionalOperations ?? {}),
  ])
  return objectsIn([document, document.info, ...(document.tags ?? []), ...items, ...operations])
}

const objectsIn = (list: unknown): object[] => (Array.isArray(list) ? list.filter((one) => Object(one) === one) : [])
