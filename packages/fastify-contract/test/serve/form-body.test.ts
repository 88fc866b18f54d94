import t from 'tap'
import type { FormField } from '../../src/serve/contract.ts'
import { formReader } from '../../src/serve/parameters.ts'

const field = (more: Partial<FormField>): FormField => ({
  ...{ name: 'c', key: 'c', kind: 'object', style: 'form', explode: true, types: [], properties: { a: ['string'] } },
  ...more,
})

const read = (texts: Record<string, string[]>, ...fields: FormField[]) =>
  formReader({ fields, otherTypes: [] }, { part: 'body', decode: String })({ texts, length: 0 }).value

t.test('a name with brackets belongs to the field before them, and without such a field to the form', async (t) => {
  const nested = field({ kind: 'nested', places: [{ types: ['object'] }] })
  t.same(read({ 'c[a]': ['1'] }, nested), { c: { a: '1' } })
  t.same(read({ 'd[a]': ['1'], 'c]': ['2'] }, nested), { 'd[a]': '1', 'c]': '2' })
  t.same(read({ c: ['1'] }, nested), { c: '1' })
  for (const name of ['c[a', 'c[', 'c[a]b', 'c[[a]]', 'c[a]]']) {
    t.throws(
      () => read({ [name]: ['1'] }, nested),
      { message: 'body/c must have balanced brackets in its names' },
      name,
    )
  }
})

t.test('a name of another field is not read twice', async (t) => {
  t.same(read({ c: ['a,1'] }, field({ explode: false })), { c: { a: '1' } })
  t.same(read({ a: ['1'], b: ['2'] }, field({})), { c: { a: '1' }, b: '2' })
  t.same(read({ c: ['1'] }, field({ kind: 'scalar' })), { c: '1' })
})
