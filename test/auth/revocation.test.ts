import t from 'tap'
import { watchTokenFile } from '../../packages/fastify-contract/src/auth/token-verifier.ts'
import { newToken } from '../../packages/fastify-contract/src/auth/tokens.ts'
import { until } from '../../scripts/system/poll.ts'
import { httpRequest } from '../support/http-request.ts'
import { createTestApp } from '../support/test-app.ts'
import { replaceTokenFile, tokenFileText, writeTokenFile } from '../support/token-files.ts'

t.test('under load a revoked token gets 401 within two seconds, and other requests are unaffected', async (t) => {
  const [kept, revoked] = [newToken(), newToken()]
  const path = writeTokenFile(t, ['kept', kept], ['revoked', revoked])
  const errors: Error[] = []
  const { verify, close } = await watchTokenFile(path, { load() {}, error: (error) => errors.push(error) })
  t.teardown(close)
  const { listen } = await createTestApp(t, { verifyToken: verify })
  const url = `http://127.0.0.1:${await listen()}/plants`
  let ended = false
  /** Sends create requests one after the other and appends the status of each response to a list. */
  const load = async (token: string, statuses: number[]) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    while (!ended) {
      statuses.push((await httpRequest(url, { method: 'POST', headers, body: '{"id":1,"name":"a"}' })).status)
    }
  }
  const [ofKept, ofRevoked]: [number[], number[]] = [[], []]
  const loads = Promise.all([load(kept, ofKept), load(kept, ofKept), load(kept, ofKept), load(revoked, ofRevoked)])
  const answered = (count: number) =>
    until(() => ofKept.length >= count && ofRevoked.length >= count, `${count} answers for each token`)

  await answered(50)
  t.same(new Set(ofRevoked), new Set([200]))
  replaceTokenFile(path, tokenFileText(['kept', kept]))
  await until(() => ofRevoked.includes(401), 'the revoked token is refused', 2_000)
  await answered(Math.max(ofKept.length, ofRevoked.length) + 50)
  ended = true
  await loads
  t.same(errors, [])

  t.same(new Set(ofKept), new Set([200]))
  const first = ofRevoked.indexOf(401)
  t.same(new Set(ofRevoked.slice(0, first)), new Set([200]))
  t.same(new Set(ofRevoked.slice(first)), new Set([401]))
})
