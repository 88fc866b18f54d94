import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Statuses of the first operation's responses that other operations share, with their component names. */
const names = { "'400'": 'Refused', "'401'": 'Unauthorized', default: 'OtherError' }

/** Moves these responses from the first operation to the components of the document, whatever their content. */
export function shareResponses(directory: string): void {
  const path = join(directory, 'openapi', 'plant-store.yaml')
  let text = readFileSync(path, 'utf8')
  let components = ''
  for (const [status, name] of Object.entries(names)) {
    const block = new RegExp(`^ {8}${status}:\\n(( {9,}.*)?\\n)+?(?= {0,8}\\S)`, 'm')
    const [found] = block.exec(text) ?? []
    if (found === undefined) throw new Error(`${path}: the first operation has no response ${status}`)
    text = text.replace(block, () => `        ${status}:\n          $ref: '#/components/responses/${name}'\n`)
    const lines = found.split('\n').slice(1)
    components += `    ${name}:\n${lines.map((line) => line.replace(/^ {4}/, '')).join('\n')}`
  }
  const place = /^components:\n/m
  if (!place.test(text)) throw new Error(`${path} has no components`)
  writeFileSync(
    path,
    text.replace(place, () => `components:\n  responses:\n${components}`),
  )
}
