import { cellsOf, countOf, features, tableOf } from './table.ts'
import type { Verdicts } from './verdicts.ts'

/** What a document needs, the feature that most clients send, and others for the same, with the rules against them. */
export const choices: { need: string; choose: string; instead: [feature: string, rule?: string][] }[] = [
  {
    need: 'a value in the path',
    choose: 'path, `simple`: text',
    instead: [['path, `label`: text'], ['path, `matrix`: text']],
  },
  {
    need: 'a value in a parameter',
    choose: 'query: text',
    instead: [['query: text with `allowReserved`'], ['cookie: text', 'cookie-parameter']],
  },
  {
    need: 'a list',
    choose: 'query, `form`, exploded: list',
    instead: [
      ['query, `form`: list', 'comma-list'],
      ['query, `spaceDelimited`: list', 'delimited-list'],
      ['query, `pipeDelimited`: list', 'delimited-list'],
      ['path, `simple`: list', 'path-list'],
      ['header: list', 'header-list'],
      ['cookie: list', 'cookie-parameter'],
    ],
  },
  {
    need: 'an object',
    choose: 'JSON: each type of property',
    instead: [
      ['query, `form`, exploded: object', 'query-object'],
      ['query, `form`: object', 'query-object'],
      ['query, `deepObject`'],
      ['query, `deepObject` with an object', 'nested-object'],
      ['query: JSON by `content`'],
      ['header: object', 'header-object'],
      ['path, `simple`: object', 'path-list'],
    ],
  },
  {
    need: 'a body that may be left out',
    choose: 'no body',
    instead: [
      ['JSON: optional body', 'optional-body'],
      ['optional URL-encoded form', 'optional-body'],
    ],
  },
  {
    need: 'a body with a list',
    choose: 'JSON: lists and maps',
    instead: [['URL-encoded form: list', 'form-list']],
  },
  { need: 'a text', choose: 'JSON: each type of property', instead: [['JSON: text'], ['text']] },
  {
    need: 'many results',
    choose: 'JSON: lists and maps',
    instead: [['JSON Lines, received'], ['event stream']],
  },
  { need: 'a file', choose: 'bytes', instead: [['multipart: one file']] },
  {
    need: 'a file and values',
    choose: 'multipart: one file',
    instead: [['multipart: several files'], ['multipart: file and JSON']],
  },
  {
    need: 'a credential',
    choose: 'bearer tokens',
    instead: [['key in the query'], ['key in a cookie']],
  },
]

/** Returns a list of the features that all clients send and read as the document says. */
export function sentByAll(verdicts: Verdicts): string {
  const count = Object.keys(verdicts.clients).length
  return features
    .filter(([feature]) => countOf(cellsOf(verdicts, feature), '✓') === count)
    .map(([feature]) => `- ${feature}`)
    .join('\n')
}

/** Returns a table of the choices, with the number of clients for which each feature is right. */
export function choiceTable(verdicts: Verdicts): string {
  const count = (feature: string) => countOf(cellsOf(verdicts, feature), '✓')
  const rows = choices.map(({ need, choose, instead }) => {
    const others = instead.map(([feature, rule]) => {
      const link = rule === undefined ? '' : `, [\`${rule}\`](client-advice.md#advice)`
      return `${feature} (${count(feature)}${link})`
    })
    return [need, choose, String(count(choose)), others.join('<br>')]
  })
  return tableOf(['for', 'choose', 'clients', 'rather than'], rows)
}
