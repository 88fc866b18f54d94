import { join, keysOf, resolve as valueAt } from '../document/json-pointer.ts'
import { isNode, nameInCase } from '../document/walk-document.ts'
import { componentGroups } from './component-names.ts'
import type { Reference } from './reference-walk.ts'

/** Returns the group of components that a reference leads to one of. */
function groupOf({ expected }: Reference): string | undefined {
  return typeof expected === 'string' || expected.shape !== 'one' ? undefined : componentGroups[expected.kind]
}

/**
 * Returns the pointer to the component that a reference without a target can only mean: by its name alone, or by a pointer
 * that lacks a slash or that has the place of Swagger 2.0. Undefined unless a file has that component.
 *
 * @param value The value of the file.
 */
export function meantPointer(found: Reference, value: object): string | undefined {
  const group = groupOf(found)
  if (group === undefined) return undefined
  const starts = [`#components/${group}/`, `/components/${group}/`, `components/${group}/`, `#/${group}/`]
  const start = [...starts, ...(group === 'schemas' ? ['#/definitions/'] : [])].find((one) =>
    found.text.startsWith(one),
  )
  const name = found.text.slice(start?.length ?? 0)
  // The name of a file.
  if (/[/#:]/.test(name) || (start === undefined && /\.(?:json|ya?ml)$/i.test(name))) return undefined
  const pointer = join('#', ...keysOf(`#/components/${group}/${name}`))
  return valueAt(value, pointer) === undefined ? undefined : pointer
}

/** Returns the pointer to the component of a file whose name differs from the one of a reference in case only. */
export function nearPointer(found: Reference, value: object): string | undefined {
  const group = groupOf(found)
  const [components, given, name, ...below] = found.text.startsWith('#/') ? keysOf(found.text) : []
  if (components !== 'components' || given !== group || name === undefined || below.length > 0) return undefined
  const held = valueAt(value, join('#', 'components', group as string))
  const names = isNode(held) ? Object.keys(held) : []
  const near = nameInCase(names, name)
  return near && join('#', 'components', group as string, near)
}
