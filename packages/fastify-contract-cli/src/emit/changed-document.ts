import { parseExactJson, stringifyJson } from 'fastify-contract/json'
import { join, keysOf } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import { methods } from '../document/walk-document.ts'

/** An older document without what a comparison with the newer one does not need. */
export type ChangedDocument = {
  /** The changed parts with what they refer to. Each operation of another path has its operationId only. */
  document: Document
  /** Returns whether the operations of a path are complete. */
  isComplete: (path: string) => boolean
  /** Returns whether a location of the newer document in the form of `normalize` may be in a changed part. */
  isTouched: (pointer: string) => boolean
}

/** The text of a document: its path items, webhooks and components by their pointers, and its other members. */
type Texts = { parts: Map<string, string>; others: Map<string, string> }

/** The members of a document that hold parts. */
const holders = ['paths', 'webhooks', 'components']

/** The members on which the meaning of each part depends. */
const dialects = ['openapi', 'jsonSchemaDialect']

/** The pointers of the parts that a part depends on, for each part. */
type Dependencies = Map<string, Set<string>>

/**
 * Returns the part of an older document that normalization and a comparison need, found in the texts of both, so that
 * the parts that are equal are not parsed. Throws an error for a text that is no JSON.
 */
export function changedDocument(oldText: string, newText: string): ChangedDocument {
  const [old, now] = [textsOf(oldText), textsOf(newText)]
  const [oldParts, newParts] = [dependenciesOf(old.parts), dependenciesOf(now.parts)]
  const isOther = dialects.some((name) => old.others.get(name) !== now.others.get(name))
  const different = isOther ? [...old.parts.keys(), ...now.parts.keys()] : differentParts(old.parts, now.parts)
  const changed = reached(different, dependentsOf(oldParts, newParts))
  const needed = reached([...changed, ...itemsWithMore(old.parts)], oldParts)
  const touched = reached([...needed, ...changed], newParts)
  const document = parseExactJson(documentText(old, needed)) as Document
  return { document, isComplete: (path) => needed.has(join('#', 'paths', path)), isTouched }

  function isTouched(pointer: string): boolean {
    const keys = keysOf(pointer)
    const parts = [partOf(keys), partOf(keys.map(withoutVariant))]
    return parts.some((part) => touched.has(part)) || !parts.some((part) => now.parts.has(part))
  }
}

/** Returns the name of a schema without what passes add for variants of it. */
const withoutVariant = (name: string): string =>
  name.replace(/(?:\.inherited)*(?:\.(?:request|response)(?:-\d+)?)?$/, '')

/** Returns the pointer of the part at some keys or around it. */
const partOf = (keys: string[]): string => join('#', ...keys.slice(0, keys[0] === 'components' ? 3 : 2))

/** Returns the texts of a document. One that another program has formatted is first written like generated ones. */
function textsOf(text: string): Texts {
  const given = membersOf(text, '')
  const members = given.has('openapi') ? given : membersOf(stringifyJson(parseExactJson(text), '  ') as string, '')
  const parts: Texts['parts'] = new Map()
  const others: Texts['others'] = new Map()
  for (const [name, value] of members) {
    if (!holders.includes(name)) others.set(name, value)
    else if (name === 'components')
      for (const [kind, held] of membersOf(value, '  ')) addParts(parts, held, '    ', '#', name, kind)
    else addParts(parts, value, '  ', '#', name)
  }
  return { parts, others }
}

function addParts(parts: Texts['parts'], text: string, indent: string, ...keys: [string, ...string[]]): void {
  for (const [name, value] of membersOf(text, indent)) parts.set(join(...keys, name), value)
}

/** Returns the texts of the members of an object whose closing brace has this indent. */
function membersOf(text: string, indent: string): Map<string, string> {
  const start = new RegExp(`\\n${indent}  ("(?:[^"\\\\]|\\\\.)*"): `, 'g')
  const found = [...text.matchAll(start)]
  const end = text.lastIndexOf(`\n${indent}}`)
  const members = new Map<string, string>()
  for (const [index, { 0: line, 1: name = '', index: at }] of found.entries()) {
    const next = found[index + 1]?.index
    members.set(JSON.parse(name), text.slice(at + line.length, next === undefined ? end : next - 1))
  }
  return members
}

/** Matches a string of JSON that is a pointer into the document. */
const pointers = /"#\/(?:[^"\\]|\\.)*"/g

/** Matches any string of JSON. */
const strings = /"(?:[^"\\]|\\.)*"/g

/**
 * Returns what each part refers to. A schema with a discriminator also depends on the schemas that it names, and on
 * those that inherit from it, directly or not. Every text of a part that may be a reference counts as one.
 */
function dependenciesOf(parts: Texts['parts']): Dependencies {
  const known = new Map<string, string>()
  const dependencies: Dependencies = new Map()
  const heirs: Dependencies = new Map()
  const parents: string[] = []
  for (const [pointer, text] of parts) {
    const targets = new Set<string>()
    for (const [reference] of text.matchAll(pointers)) targets.add(targetOf(reference))
    if (text.includes('"discriminator"')) {
      parents.push(pointer)
      for (const [name] of text.matchAll(strings)) for (const target of namedBy(JSON.parse(name))) targets.add(target)
    }
    if (text.includes('"allOf"'))
      for (const target of targets) heirs.set(target, (heirs.get(target) ?? new Set()).add(pointer))
    dependencies.set(pointer, targets)
  }
  for (const parent of parents)
    for (const heir of reached([parent], heirs)) (dependencies.get(parent) as Set<string>).add(heir)
  return dependencies

  function targetOf(reference: string): string {
    const target = known.get(reference) ?? partOf(keysOf(JSON.parse(reference)))
    known.set(reference, target)
    return target
  }
}

/** Returns the pointers of the schemas that a discriminator may name: by a name, by a reference, or by a file. */
function namedBy(text: string): string[] {
  const last = keysOf(`/${text}`).at(-1) as string
  return [text, last, last.replace(/\.(?:json|ya?ml)$/, '')].map((name) => join('#', 'components', 'schemas', name))
}

/** Returns the pointers that some pointers lead to, these included. */
function reached(from: Iterable<string>, dependencies: Dependencies): Set<string> {
  const found = new Set(from)
  // Iteration over a set includes the elements that are added meanwhile.
  for (const pointer of found) for (const target of dependencies.get(pointer) ?? []) found.add(target)
  return found
}

function differentParts(old: Texts['parts'], now: Texts['parts']): string[] {
  const different: string[] = []
  for (const [pointer, text] of old) if (now.get(pointer) !== text) different.push(pointer)
  for (const pointer of now.keys()) if (!old.has(pointer)) different.push(pointer)
  return different
}

/** Returns the parts that depend on each part, in any of some documents. */
function dependentsOf(...documents: Dependencies[]): Dependencies {
  const dependents: Dependencies = new Map()
  for (const dependencies of documents)
    for (const [pointer, targets] of dependencies)
      for (const target of targets) dependents.set(target, (dependents.get(target) ?? new Set()).add(pointer))
  return dependents
}

/** Returns the text of a document with the needed parts, and the operationIds of the other operations. */
function documentText({ parts, others }: Texts, needed: Set<string>): string {
  const members = new Map(others)
  const held = new Map<string, string[]>()
  for (const [pointer, text] of parts) {
    const keys = keysOf(pointer)
    const isNeeded = needed.has(pointer)
    if (!isNeeded && keys[0] !== 'paths') continue
    const holder = keys.slice(0, -1).join('/')
    const list = held.get(holder) ?? []
    list.push(`${JSON.stringify(keys.at(-1))}:${isNeeded ? text : onlyIds(text)}`)
    held.set(holder, list)
  }
  const components: string[] = []
  for (const [holder, list] of held) {
    const [name = '', kind] = holder.split('/')
    if (kind === undefined) members.set(name, objectOf(list))
    else components.push(`${JSON.stringify(kind)}:${objectOf(list)}`)
  }
  members.set('components', objectOf(components))
  return objectOf(Array.from(members, ([name, text]) => `${JSON.stringify(name)}:${text}`))
}

const objectOf = (members: string[]): string => `{${members.join()}}`

/** Returns the pointers of the path items that have operations elsewhere than below a method. */
function itemsWithMore(parts: Texts['parts']): string[] {
  const found: string[] = []
  for (const [pointer, text] of parts) if (/\n {6}"(?:\$ref|additionalOperations)": /.test(text)) found.push(pointer)
  return found
}

/** Matches the members of a path item, and those of their members that may be operationIds. */
const idLines = /\n {6}"((?:[^"\\]|\\.)*)": |\n {8}"operationId": ("(?:[^"\\]|\\.)*")/g

/** Returns a path item whose operations have an operationId only. */
function onlyIds(item: string): string {
  const operations = new Map<string, string>()
  let member = ''
  for (const [, name, id] of item.matchAll(idLines)) {
    if (name !== undefined) member = name
    if (methods.includes(member)) operations.set(member, id === undefined ? '{}' : `{"operationId":${id}}`)
  }
  return objectOf(Array.from(operations, ([method, operation]) => `"${method}":${operation}`))
}
