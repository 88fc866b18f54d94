import { readFile } from 'node:fs/promises'
import { parseExactJson } from 'fastify-contract/json'
import type { Severity } from '../changes/change-severity.ts'
import { type Change, contractChanges, releasedFile, releasedVersions } from '../changes/contract-changes.ts'
import { keysOf, resolve } from '../document/json-pointer.ts'
import { type Document, endpoints } from '../document/openapi-document.ts'
import { normalizedDocument } from '../passes/normalize.ts'
import { htmlText } from '../text/foreign-text.ts'
import { plainPage } from './plain-page.ts'

/** The headings of the changes of each weight. */
const headings: Record<Severity, string> = {
  breaking: 'Breaking: clients of the previous version may fail',
  compatible: 'Compatible: clients of the previous version keep working',
  text: 'Text: documentation only',
}

/**
 * Returns a page without a script that lists the changes of each released document since the one before, the newest
 * first. The published document comes first if it is not released yet.
 *
 * @param compiled The published document in the form of `normalize`, if the caller has it.
 */
export async function historyPage(published: string, released: string, compiled?: Document): Promise<string> {
  const versions = await releasedVersions(released)
  const files = versions.map((version) => releasedFile(released, version))
  const last = files.at(-1)
  const isReleased = last !== undefined && (await readFile(last, 'utf8')) === (await readFile(published, 'utf8'))
  const steps = isReleased ? files : [...files, published]
  const sections: string[] = []
  for (const [index, file] of steps.entries()) {
    const document = await documentOf(file)
    const { version } = document.info
    const before = steps[index - 1]
    const name = file === published ? `${version}, not released` : version
    const changes = before === undefined ? undefined : await contractChanges(before, file, document)
    sections.unshift(
      changes === undefined
        ? firstSection(name, compiledOf(file, document))
        : sectionOf(name, changes, versions[index - 1] as string),
    )
  }
  const { title } = (await documentOf(published)).info
  return plainPage(`History of ${title}`, sections.join('\n'))

  function compiledOf(file: string, document: Document): Document {
    return (file === published ? compiled : undefined) ?? normalizedDocument(document)
  }
}

const documentOf = async (file: string): Promise<Document> => parseExactJson(await readFile(file, 'utf8')) as Document

/** Returns the section of the first document: its operations. */
function firstSection(name: string, document: Document): string {
  const operations = endpoints(document).map(({ method, routes, pointer, operationId }) => {
    const { summary = operationId } = resolve(document, pointer) as { summary?: string }
    return `<li><code>${htmlText(`${method} ${routes[0]}`)}</code> ${htmlText(String(summary))}</li>`
  })
  return [
    `<h2>${htmlText(name)}</h2>`,
    '<p>The first release, with these operations:</p>',
    '<ul>',
    ...operations,
    '</ul>',
  ].join('\n')
}

function sectionOf(name: string, changes: Change[], before: string): string {
  const heading = `<h2>${htmlText(name)}</h2>`
  if (changes.length === 0) return `${heading}\n<p>No changes since ${htmlText(before)}.</p>`
  const lists = (Object.keys(headings) as Severity[]).flatMap((weight) => {
    const items = changes.filter((change) => change.weight === weight).map(({ what }) => `<li>${itemOf(what)}</li>`)
    return items.length === 0 ? [] : [`<h3>${headings[weight]}</h3>`, '<ul>', ...items, '</ul>']
  })
  return [heading, ...lists].join('\n')
}

/** Returns a change as HTML. Shows the keys of a pointer unescaped, so that readers need not know its escapes. */
function itemOf(what: string): string {
  const [, kind = '', pointer, why = ''] = /^(\w+) (#[^:]*)(: .*)?$/s.exec(what) ?? []
  if (pointer === undefined) return htmlText(what)
  const keys = keysOf(pointer).map((key) => `<code>${htmlText(key)}</code>`)
  return `${kind} ${keys.join(' ')}${htmlText(why)}`
}
