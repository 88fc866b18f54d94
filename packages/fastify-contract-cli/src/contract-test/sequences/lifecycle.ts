import { setTimeout as wait } from 'node:timers/promises'
import type { NamedCheck } from '../checks/check.ts'
import { createdIsReadable, deletedIsGone, writtenIsRead } from '../checks/checks.ts'
import { isSuccess } from '../checks/documented-response.ts'
import { changeByRejected, changeTexts, rejectionChangesNothing } from '../checks/rejection-changes-nothing.ts'
import type { Exchange, TestRequest, TestResponse } from '../exchange.ts'
import { responseJson } from './exchange-json.ts'
import { identifyingValue } from './identifying-value.ts'
import { atPathOf, pathParameters, type WriteRequest, withParameters } from './moved-request.ts'
import type { Resource } from './resources.ts'
import { lostValue } from './written-values.ts'

/** What a sequence sends requests with. */
export type SequenceTools = {
  isOwn: boolean
  write: WriteRequest
  /** Sends a request, checks the response, and returns the exchange if there is one. */
  send(request: TestRequest): Promise<Exchange | undefined>
  /** Sends what the checks of an operation send, with a request for a resource that exists, once it accepted another. */
  probe(request: TestRequest, earlier: TestRequest[]): Promise<void>
  /** Returns a valid request of an operation, another one for another index; undefined if there is none. */
  valid(operation: TestRequest['operation'], index: number): TestRequest | undefined
  /** Returns some invalid requests of an operation with a valid path, of different places first. */
  invalid(operation: TestRequest['operation']): TestRequest[]
  /** Counts that a check looks at an exchange. */
  countLook(check: NamedCheck): void
  fail(check: NamedCheck, found: { expected: string; got: string }, last: Exchange, earlier: TestRequest[]): void
}

/** Milliseconds to wait before a resource that was just created is read again: other servers may need a moment. */
const pauses = [20, 200]

/** The number of invalid requests to change a resource each time. */
const maxInvalid = 4

/** 202 promises nothing yet (RFC 9110 section 15.3.3). */
const isDone = (response: TestResponse): boolean => isSuccess(response) && response.status !== 202

/** Creates a resource, reads it, changes it, deletes it, and reads it again. */
export async function runLifecycle(resource: Resource, index: number, tools: SequenceTools): Promise<void> {
  const { create, parameter, read, changes, remove } = resource
  const item = read ?? changes[0] ?? remove
  const sent = tools.valid(create, index)
  const created = sent && (await tools.send({ ...sent, source: 'sequence' }))
  if (item === undefined || created === undefined || !isDone(created.response)) return
  const id = identifyingValue(created, item, parameter)
  if (id === undefined) return
  const parameters = new Map([...pathParameters(created.request), [`path ${parameter}`, id]])
  const steps: TestRequest[] = [created.request]
  const at = (operation: TestRequest['operation'] | undefined, index = 0) => {
    const base = operation && tools.valid(operation, index)
    return base && withParameters(tools.write, base, parameters)
  }

  const get = at(read)
  const found = get && (await readCreated(get))
  if (get !== undefined && found === undefined) return
  if (found !== undefined) checkWritten(created, found, parameter)
  if (found !== undefined) await tools.probe(found.request, steps)
  for (const change of changes) await runChange(change)
  await runRemoval()

  async function readCreated(get: TestRequest): Promise<Exchange | undefined> {
    let found = await tools.send(get)
    for (const pause of pauses) {
      if (found === undefined || found.response.status !== 404) break
      await wait(pause)
      found = await tools.send(get)
    }
    if (found === undefined) return undefined
    tools.countLook(createdIsReadable)
    const { status } = found.response
    if (status === 404 || status === 410) {
      const expected = `the resource that ${create.method} ${create.path} created with ${created?.response.status}`
      tools.fail(createdIsReadable, { expected, got: `status ${status}` }, found, steps)
    }
    return isSuccess(found.response) ? found : undefined
  }

  /** Compares what is read with what was written. */
  function checkWritten(written: Exchange, read: Exchange, identity: string): void {
    tools.countLook(writtenIsRead)
    const lost = lostValue(written.request, responseJson(read.response), identity, tools.isOwn)
    if (lost === undefined) return
    const { place, sent, got } = lost
    const { method, operation } = written.request
    const expected = `${place} ${sent}, as written by ${method} ${operation.path}`
    tools.fail(writtenIsRead, { expected, got: `${place} ${got}` }, read, steps)
  }

  async function runChange(operation: TestRequest['operation']): Promise<void> {
    const request = at(operation, index)
    if (request === undefined) return
    await rejectChanges(operation, request)
    await tools.probe(request, steps)
    const changed = await tools.send(request)
    if (changed === undefined) return
    steps.push(request)
    const after = isDone(changed.response) && get ? await tools.send(get) : undefined
    if (after !== undefined && isSuccess(after.response)) checkWritten(changed, after, parameter)
  }

  /** Sends invalid changes, and checks that what is read stays as it is. */
  async function rejectChanges(operation: TestRequest['operation'], valid: TestRequest): Promise<void> {
    if (get === undefined) return
    const invalid = tools.invalid(operation)
    // Each run of the sequence sends other ones.
    const start = (index * maxInvalid) % Math.max(1, invalid.length)
    const chosen = invalid.slice(start, start + maxInvalid).map((one) => atPathOf(valid, one))
    const changed = await changeByRejected(get, chosen, async (one) => (await tools.send(one))?.response)
    if (changed !== undefined)
      tools.fail(rejectionChangesNothing, changeTexts(changed), changed.exchange, [...steps, get])
  }

  async function runRemoval(): Promise<void> {
    const request = at(remove)
    if (request !== undefined) await tools.probe(request, steps)
    const removed = request && (await tools.send(request))
    if (removed === undefined || !isDone(removed.response)) return
    steps.push(removed.request)
    await tools.send(removed.request)
    const after = get && (await tools.send(get))
    if (after === undefined) return
    tools.countLook(deletedIsGone)
    if (!isSuccess(after.response)) return
    const expected = `status 404 or 410 after ${removed.request.method} got ${removed.response.status}`
    tools.fail(deletedIsGone, { expected, got: `status ${after.response.status}` }, after, steps)
  }
}
