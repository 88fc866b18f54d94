import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { followTokens } from '../../src/auth/token-file-watcher.ts'
import { newToken } from '../../src/auth/tokens.ts'
import { createService } from '../support/service.ts'
import { textOf, tokensFile } from '../support/tokens.ts'

t.test('under load a revoked token is refused within two seconds, and no other request is touched', async (t) => {
  const [kept, revoked] = [newToken(), newToken()]
  const path = tokensFile(t, ['kept', kept], ['revoked', revoked])
  const { verify, close } = await followTokens(path, { load() {}, error: t.fail })
  t.teardown(close)
  const { listen } = await createService(t, { verifyToken: verify })
  const url = `http://127.0.0.1:${await listen()}/plants`
  let ended = false
  /** Creates one after the other; gives the statuses, each with the time of its answer. */
  const load = async (token: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answers: { status: number; time: number }[] = []
    while (!ended) {
      const { status } = await fetch(url, { method: 'POST', headers, body: '{"id":1,"name":"a"}' })
      answers.push({ status, time: performance.now() })
    }
    return answers
  }
  const [ofKept, ofRevoked] = [Promise.all([load(kept), load(kept), load(kept)]), load(revoked)]
  await sleep(500)
  writeFileSync(path, textOf(['kept', kept]))
  const promised = performance.now() + 2_000
  await sleep(2_500)
  ended = true

  const statuses = (await ofKept).flat().map(({ status }) => status)
  t.ok(statuses.length > 100)
  t.same(new Set(statuses), new Set([200]))
  const answers = await ofRevoked
  const first = answers.findIndex(({ status }) => status === 401)
  t.ok(first > 0)
  t.same(new Set(answers.slice(0, first).map(({ status }) => status)), new Set([200]))
  t.same(new Set(answers.slice(first).map(({ status }) => status)), new Set([401]))
  t.ok((answers[first]?.time ?? Number.POSITIVE_INFINITY) < promised)
})
