import assert from 'node:assert/strict'
import type { Claim, ClaimOutcome, KeyLimits, KeyStore } from './key-store.ts'

/** Opens one more view of the store of one test, such as that of another instance. The store is empty at first. */
type Open = (limits?: Partial<KeyLimits>) => Promise<KeyStore>

/** What a store cannot do, which its tests then skip. */
export type StoreTraits = {
  /** The store has no lease: the key of a handler is free when its transaction ends. */
  isTransactional?: boolean
  /** Another view has keys of its own. */
  isPrivate?: boolean
  /** Waits for milliseconds of the clock of the store. */
  wait(milliseconds: number): Promise<void>
}

const key = (id: string, fingerprint = 'a') => ({ id: id.padEnd(43, 'A'), fingerprint: fingerprint.padEnd(43, 'A') })

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const completion = (text: string) => ({ status: 201, response: bytes(text) })

function claimed({ state, ...outcome }: ClaimOutcome): Claim {
  assert.equal(state, 'claimed')
  return (outcome as { claim: Claim }).claim
}

function assertCompleted(outcome: ClaimOutcome, text: string, fingerprint = 'a'): void {
  assert.equal(outcome.state, 'completed')
  const completed = outcome as ClaimOutcome & { state: 'completed' }
  assert.deepEqual(Buffer.from(completed.response), Buffer.from(text))
  assert.equal(completed.fingerprint, key('', fingerprint).fingerprint)
}

/** A time in milliseconds after which a lease or a response of the tests has ended, and a shorter one. */
const [short, longer] = [200, 300]

/**
 * The requirements on every store of idempotency keys, one function for each, for any test runner. A function opens the
 * store with `open` and rejects with an AssertionError when the store violates the requirement.
 */
export const keyStoreConformance: Record<string, (open: Open, traits: StoreTraits) => Promise<void>> = {
  async 'a key is claimed once, and its response is kept'(open) {
    const store = await open()
    const claim = claimed(await store.claim(key('1')))
    assert.equal((await store.claim(key('1'))).state, 'running')
    assert.equal(await claim.complete(completion('kept')), true)
    assertCompleted(await store.claim(key('1')), 'kept')
    await claimed(await store.claim(key('2'))).release()
  },

  async 'a response is kept to the byte'(open) {
    const store = await open()
    const every = Uint8Array.from({ length: 70_000 }, (_, index) => index & 0xff)
    for (const [index, response] of [every, new Uint8Array(0)].entries()) {
      await claimed(await store.claim(key(String(index)))).complete({ status: 200, response })
      const outcome = await store.claim(key(String(index)))
      assert.equal(outcome.state, 'completed')
      assert.deepEqual(Buffer.from((outcome as { response: Uint8Array }).response), Buffer.from(response))
    }
  },

  async 'the fingerprint is that of the first request'(open) {
    const store = await open()
    await claimed(await store.claim(key('1', 'first'))).complete(completion('kept'))
    assertCompleted(await store.claim(key('1', 'second')), 'kept', 'first')
    assertCompleted(await store.claim(key('1', 'first')), 'kept', 'first')
  },

  async 'a released key, or one without a response, is free'(open) {
    const store = await open()
    await claimed(await store.claim(key('1'))).release()
    const again = claimed(await store.claim(key('1', 'other')))
    assert.equal(await again.complete({ status: 200, response: undefined }), true)
    await claimed(await store.claim(key('1'))).complete(completion('kept'))
    assertCompleted(await store.claim(key('1')), 'kept')
  },

  async 'of many concurrent claims of a key, one succeeds'(open) {
    const store = await open()
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => store.claim(key('1'))))
    const successes = outcomes.filter(({ state }) => state === 'claimed')
    assert.equal(successes.length, 1)
    assert.equal(outcomes.filter(({ state }) => state === 'running').length, 19)
    await claimed(successes[0] as ClaimOutcome).complete(completion('kept'))
    assertCompleted(await store.claim(key('1')), 'kept')
  },

  async 'two instances see the same keys'(open, { isPrivate }) {
    if (isPrivate) return
    const [one, other] = [await open(), await open()]
    const claim = claimed(await one.claim(key('1')))
    assert.equal((await other.claim(key('1'))).state, 'running')
    await claim.complete(completion('kept'))
    assertCompleted(await other.claim(key('1')), 'kept')
  },

  async 'after the lease, a request with the same content takes the key over, and the late one keeps nothing'(
    open,
    { isTransactional, wait },
  ) {
    if (isTransactional) return
    const store = await open({ lease: short })
    const late = claimed(await store.claim(key('1')))
    await wait(longer)
    assert.equal((await store.claim(key('1', 'other'))).state, 'running', 'other content does not take it over')
    const next = claimed(await store.claim(key('1')))
    assert.equal(await late.complete(completion('late')), false)
    await late.release()
    assert.equal((await store.claim(key('1'))).state, 'running', 'the late release changes nothing')
    assert.equal(await next.complete(completion('next')), true)
    assert.equal(await late.complete(completion('late')), false)
    assertCompleted(await store.claim(key('1')), 'next')
  },

  async 'a response that is late keeps its key if no other request has taken it over'(open, { wait }) {
    const store = await open({ lease: 10_000 * short })
    const late = claimed(await store.claim(key('1')))
    await wait(longer)
    assert.equal(await late.complete(completion('late')), true)
    assertCompleted(await store.claim(key('1')), 'late')
  },

  async 'an expired key is free for any content'(open, { wait }) {
    const store = await open({ retention: short })
    await claimed(await store.claim(key('1'))).complete(completion('kept'))
    await wait(longer)
    await claimed(await store.claim(key('1', 'other'))).complete(completion('other'))
  },

  async 'a store that is full rejects new keys, knows the others, and takes new ones after their expiry'(
    open,
    { wait },
  ) {
    const store = await open({ keys: 3, retention: 10 * short })
    for (const id of ['1', '2', '3']) await claimed(await store.claim(key(id))).complete(completion(id))
    assert.equal((await store.claim(key('4'))).state, 'full')
    assertCompleted(await store.claim(key('2')), '2')
    await wait(10 * longer)
    await claimed(await store.claim(key('4'))).release()
  },

  async 'a store is full when its responses have too many bytes'(open) {
    const store = await open({ bytes: 50_000 })
    await claimed(await store.claim(key('1'))).complete({ status: 200, response: new Uint8Array(60_000) })
    assert.equal((await store.claim(key('2'))).state, 'full')
  },
}
