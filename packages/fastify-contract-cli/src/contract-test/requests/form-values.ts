import type { Form, FormField } from 'fastify-contract/contract'
import { keysOf } from '../../document/json-pointer.ts'
import type { Json, Members } from '../values/json-notations.ts'
import { isOverlooked, isReadAsText, isReadExactly, isRejected, type Textual } from './readings.ts'

/** Returns whether every server reads the fields of a form as they are. */
export const isCertainForm = (form: Form, value: Json, accepts: (value: Json) => boolean): boolean =>
  isMembers(value) &&
  Object.keys(value).length > 0 &&
  Object.keys(value).every((name) => isCertainMember(form, value, name, accepts))

/** Returns a form without the fields that only some servers read as they are: of a hundred fields, one mostly is. */
export const withoutUncertain = (form: Form, value: Json, accepts: (value: Json) => boolean): Json =>
  isMembers(value)
    ? Object.fromEntries(Object.entries(value).filter(([name]) => isCertainMember(form, value, name, accepts)))
    : value

function isCertainMember(form: Form, value: Members, name: string, accepts: (value: Json) => boolean): boolean {
  const field = fieldOf(form, name)
  const member = value[name] as Json
  const acceptsMember = (one: Json) => accepts({ ...value, [name]: one })
  if (field === undefined) return name !== '' && typeof member === 'string' && /^[A-Za-z]\w*$/.test(member)
  const items = itemsOf(field, member)
  // A list without items has no part, so that servers take the member for a missing one.
  if (items.length === 0) return false
  return field.part?.isFile === true || items.every((item) => isCertainField(field, item, acceptsMember))
}

/** Returns the parts that a field of a form with parts is sent as. */
const itemsOf = (field: FormField, member: Json): Json[] => (field.part?.isItem ? [member].flat() : [member])

function isCertainField(field: FormField, value: Json, accepts: (value: Json) => boolean): boolean {
  if (value === '' || value === null) return false
  if (field.part === undefined || field.kind === 'json') return isReadExactly(textualOf(field), value, accepts)
  // The schema of the part is that of each item, and not that of the member.
  return typeof value !== 'object' && isReadExactly(textualOf(field), value, field.part.isItem ? isAny : accepts)
}

const isAny = () => true

/** Returns how the texts of a field are read. */
export const textualOf = (field: FormField): Textual => field

/** Returns the field of a form that has a name; undefined if its schema does not name it. */
export const fieldOf = (form: Form, name: string): FormField | undefined =>
  form.fields.find((field) => field.name === name) ?? form.otherParts?.field

/** Returns whether a value is an object. */
export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)

/** Returns whether a value is invalid for a server that accepts the given values. */
export type IsBroken = (value: Json, accepts: (value: Json) => boolean) => boolean

/** Returns a function that tells whether a form is invalid; undefined if servers may overlook what is wrong. */
export function brokenFormTest(form: Form, where: string, what: string): IsBroken | undefined {
  const [name] = keysOf(`#${where}`)
  // Servers ignore a field that they do not know.
  if (name === undefined || where.startsWith('/additionalProperties')) return undefined
  const field = fieldOf(form, name)
  if (field !== undefined && (isOverlooked(field, what) || isReadAsText(field, what))) return undefined
  return (value, accepts) => isBrokenForm(form, name, value, accepts)
}

/** Returns whether a form is invalid however a server reads the field of a name, which is the broken one. */
function isBrokenForm(form: Form, name: string, value: Json, accepts: (value: Json) => boolean): boolean {
  if (!isMembers(value) || Object.keys(value).length === 0 || !Object.values(value).every(isSendable)) return false
  if (!Object.hasOwn(value, name)) return !accepts(value)
  const field = fieldOf(form, name)
  const member = value[name] as Json
  if (field === undefined || field.part?.isFile || member === null) return false
  const acceptsMember = (one: Json) => accepts({ ...value, [name]: one })
  if (field.kind === 'json' && !field.part?.isItem) return !acceptsMember(member)
  if (field.part === undefined) return isRejected(textualOf(field), member, acceptsMember)
  const kind = field.part.isItem ? 'array' : 'scalar'
  const items = [member].flat()
  if (field.kind === 'json') return Array.isArray(member) && member.length > 0 && !acceptsMember(member)
  if (items.length === 0 || items.some((item) => typeof item === 'object')) return false
  return isRejected({ ...textualOf(field), kind }, member, acceptsMember)
}

/** Returns whether a member of a form has a text: null has none, and an empty list has no pair. */
const isSendable = (value: Json): boolean =>
  value !== null && value !== '' && !(typeof value === 'object' && Object.keys(value).length === 0)
