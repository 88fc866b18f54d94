import t from 'tap'
import type { Document, Parameter } from '../../src/contract/document.ts'
import { unservable } from '../../src/contract/unservable.ts'

const json = { 'application/json': { schema: {} } }
const text = { 'text/plain': { schema: {} } }

function problems(operation: object, { path = '/a', method = 'get' } = {}): string[] {
  const document = {
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    paths: { [path]: { [method]: { operationId: 'a', responses: {}, ...operation } } },
    components: { schemas: { Ids: { type: 'array' }, Refined: { $ref: '#/components/schemas/Ids' } } },
  } as Document
  return unservable(document)
}

const parameter = (more: Partial<Parameter> & object) =>
  problems({ parameters: [{ name: 'p', in: 'query', schema: {}, ...more }] })

t.test('what can be served', async (t) => {
  t.same(problems({ requestBody: { content: json }, responses: { 200: { content: json }, 204: {} } }), [])
  t.same(problems({ requestBody: { content: { ...json, 'application/merge-patch+json': {} } } }), [])
  t.same(problems({}, { path: '/{a}/{b}.{c}-{d}' }), [])
  t.same(parameter({ style: 'pipeDelimited', schema: { type: 'array' } }), [])
})

t.test('each place that cannot is told, with what to do', async (t) => {
  const at = '#/paths/%2Fa/get'.replace('%2F', '~1')
  const p = `${at}/parameters/0: parameter p:`
  t.same(problems({}, { path: '/{a}:b' }), [
    '#/paths/~1%7Ba%7D%3Ab: a path parameter must end before /, . or -, or with the path',
  ])
  t.same(problems({}, { method: 'trace' }), ['#/paths/~1a/trace: TRACE is not served; leave the operation out'])
  t.same(parameter({ style: 'deepObject', schema: { type: 'object' } }), [
    `${p} style deepObject is not read; use form`,
    `${p} an object is not read; use one parameter for each property`,
  ])
  t.same(parameter({ in: 'header', schema: { properties: {} } }), [
    `${p} an object is not read; use one parameter for each property`,
  ])
  t.same(problems({ parameters: [{ name: 'p', in: 'query', content: json }] }), [
    `${p} a parameter is described by a schema, not by content`,
  ])
  t.same(parameter({ in: 'path', schema: { $ref: '#/components/schemas/Refined' } }), [
    `${p} an array in a path is not read; use the query`,
  ])
  t.same(problems({ requestBody: { content: text } }), [
    `${at}/requestBody/content: text/plain is not read, only JSON is`,
  ])
  t.same(problems({ responses: { 200: { content: text }, 201: { content: { ...json, ...text } } } }), [
    `${at}/responses/200/content: text/plain is not written, only JSON is`,
    `${at}/responses/201/content: one media type can be written, not 2`,
  ])
})
