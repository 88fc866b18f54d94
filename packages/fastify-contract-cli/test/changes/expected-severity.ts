import type { Severity } from '../../src/changes/change-severity.ts'

/** A schema and its components. `#$` in a reference stands for the path of the components. */
export type Version = { schema: object; components?: Record<string, object> }
export type Position = 'sent' | 'returned' | 'both'

/** The severity of a schema's edit for each position of the schema; undefined where the edit changes nothing. */
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
/** The verdict of an edit after which fewer values are accepted or returned. */
export const narrower = { sent: 'breaking', returned: 'compatible', both: 'breaking' } as const
export const wider = { sent: 'compatible', returned: 'breaking', both: 'breaking' } as const

/** Returns a schema that includes the given base by allOf. */
export const onBase = (base: object) => ({
  schema: { allOf: [to('Base'), object({ tag: text })] },
  components: { Base: base },
})
