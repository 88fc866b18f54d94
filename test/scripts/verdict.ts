import type { Severity } from '../../scripts/changes/change-severity.ts'

/** A schema and the components beside it; `#$` stands for where these are. */
export type Version = { schema: object; components?: Record<string, object> }
export type Position = 'sent' | 'returned' | 'both'

/** What an edit of a schema is, by where the schema is used; undefined where it is no change. */
export type Verdict = { edit: string; before: Version; after: Version } & Record<Position, Severity | undefined>

export const positions: Position[] = ['sent', 'returned', 'both']

export const to = (name: string) => ({ $ref: `#$${name}` })
export const text = { type: 'string' }
export const object = (properties: object, ...required: string[]) => ({ type: 'object', required, properties })
export const named = object({ name: text }, 'name')
export const tagged = object({ tag: text })
export const namedAndTagged = object({ name: text, tag: text }, 'name')

export const only = (verdict: Severity | undefined): Record<Position, Severity | undefined> => ({
  sent: verdict,
  returned: verdict,
  both: verdict,
})
export const same = only(undefined)
/** Less is accepted, or less is returned. */
export const narrower = { sent: 'breaking', returned: 'compatible', both: 'breaking' } as const
export const wider = { sent: 'compatible', returned: 'breaking', both: 'breaking' } as const

/** A schema that takes in a base by an allOf; the base is an edit's own. */
export const onBase = (base: object) => ({
  schema: { allOf: [to('Base'), object({ tag: text })] },
  components: { Base: base },
})
