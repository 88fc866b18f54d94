import t from 'tap'
import type { FormField } from '../../src/serve/contract.ts'
import { formReader } from '../../src/serve/request-body.ts'

const field = (more: Partial<FormField>): FormField => ({
  ...{
    name: 'c',
    key: 'c',
    kind: 'object',
    style: 'deepObject',
    explode: true,
    types: [],
    properties: { a: ['string'] },
  },
  ...more,
})

const read = (texts: Record<string, string[]>, ...fields: FormField[]) =>
  formReader({ fields, otherTypes: [] })({ texts, length: 0 }).value

t.test('a name that is no property of a deep object is a property of the form', async (t) => {
  t.same(read({ 'c[a]': ['1'] }, field({})), { c: { a: '1' } })
  t.same(read({ 'c[a': ['1'] }, field({})), { 'c[a': '1' })
  t.same(read({ c: ['1'] }, field({})), { c: '1' })
  t.same(read({ c: ['1'], 'c[a]': ['2'] }, field({})), { c: '1' })
})

t.test('a name of another field is not read twice', async (t) => {
  t.same(read({ c: ['a,1'] }, field({ style: 'form', explode: false })), { c: { a: '1' } })
  t.same(read({ a: ['1'], b: ['2'] }, field({ style: 'form' })), { c: { a: '1' }, b: '2' })
  t.same(read({ c: ['1'] }, field({ kind: 'scalar', style: 'form' })), { c: '1' })
})
