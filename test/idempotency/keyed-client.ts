import { type Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../faults/seeded-random.ts'

type ClientOptions = { ports: number[]; creates: number; random: Random; agent: Agent }

export type KeyedClient = ReturnType<typeof keyedClient>

type Answer = { status: number; body: string; isReplay: boolean }

/** Number of orders that are created at the same time. */
const concurrency = 32

/** Milliseconds between two attempts. */
const retryPause = 20

/**
 * Returns clients that create orders through any of several instances. Each repeats a request until it is acknowledged,
 * and at random: at once through another instance, after it gave up the first, and after the response.
 */
export function keyedClient({ ports, creates, random, agent }: ClientOptions) {
  const counts = { requests: 0, replays: 0, conflicts: 0 }
  /** Responses that no fault excuses. */
  const wrong: string[] = []
  /** The ids of the acknowledged orders, by reference. */
  const acknowledged = new Map<string, string>()
  let next = 0
  return {
    counts,
    wrong,
    acknowledged,
    async run(): Promise<void> {
      await Promise.all(Array.from({ length: concurrency }, work))
    },
  }

  async function work(): Promise<void> {
    while (next < creates) {
      const reference = `order-${next++}`
      await create(reference)
      if (random.below(10) === 0) await create(reference)
    }
  }

  async function create(reference: string): Promise<void> {
    for (;;) {
      const attempts = [attempt(reference)]
      if (random.below(20) === 0) attempts.push(attempt(reference))
      const answers = await Promise.all(attempts)
      for (const answer of answers) take(reference, answer)
      if (answers.some((answer) => answer?.status === 201)) return
      await sleep(retryPause)
    }
  }

  function take(reference: string, answer: Answer | undefined): void {
    if (answer === undefined || answer.status === 503) return
    if (answer.status === 409) counts.conflicts++
    else if (answer.status !== 201) wrong.push(`${answer.status} ${answer.body}`)
    else {
      if (answer.isReplay) counts.replays++
      const id = /"id":(\d+)/.exec(answer.body)?.[1] ?? ''
      const earlier = acknowledged.get(reference)
      if (earlier === undefined) acknowledged.set(reference, id)
      else if (earlier !== id) wrong.push(`id ${id} after id ${earlier}`)
    }
  }

  /** Sends a request, which one of 20 clients gives up early. Resolves with undefined if there is no response. */
  async function attempt(reference: string): Promise<Answer | undefined> {
    counts.requests++
    const body = JSON.stringify({ reference })
    const headers = { 'content-type': 'application/json', 'idempotency-key': reference, 'content-length': body.length }
    const timeout = random.below(20) === 0 ? 1 + random.below(10) : 15_000
    const signal = AbortSignal.timeout(timeout)
    return await new Promise(function send(resolve) {
      const port = ports[random.below(ports.length)] as number
      const sent = request({ host: '127.0.0.1', port, method: 'POST', path: '/orders', headers, agent, signal })
      const giveUp = () => resolve(undefined)
      sent.on('error', giveUp).on('response', function receive(response) {
        let text = ''
        response.setEncoding('utf8').on('error', giveUp).on('close', giveUp)
        response.on('data', (chunk) => {
          text += chunk
        })
        const { statusCode: status = 0, headers } = response
        const end = () => resolve({ status, body: text, isReplay: headers['idempotent-replayed'] === 'true' })
        response.on('end', end)
      })
      sent.end(body)
    })
  }
}
