import cluster, { type Worker } from 'node:cluster'
import { EventEmitter, once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../config/read-config.ts'
import type { Figures } from '../observability/metrics.ts'
import type { Routes } from '../openapi/routes.ts'

export type Answers = { ready: unknown; figures: Figures }
export type Question = keyof Answers

/** What a worker is told, or asked. */
export type Order = { order: 'serve'; config: Config; routes: Routes } | { order: 'drain' | 'close' | Question }

/** What it tells: that it listens to orders, where it serves, why it is about to end, or an answer. */
export type Report =
  | 'listening'
  | { url: string }
  | { end: string }
  | { question: Question; answer: Answers[Question] }
  | { question: Question; problem: string }

export type WorkerProcess = {
  /** Where it serves; rejects with the reason when it has ended before. */
  url: Promise<string>
  /** Resolves when it has ended: whether as it was told to, and else why. */
  ended: Promise<{ inPeace: boolean; reason: Error }>
  tell(order: Order): void
  /** Rejects with what the worker complains of, or with the reason of its end. */
  ask<Q extends Question>(question: Q): Promise<Answers[Q]>
  /** Ends it, whatever is in flight. */
  disconnect(): void
  kill(): void
}

const exec = fileURLToPath(new URL(`./worker${extname(import.meta.url)}`, import.meta.url))

const ignore = () => {}

/** Starts a worker that serves as it is configured. */
export function forkWorker(config: Config, routes: Routes): WorkerProcess {
  cluster.setupPrimary({ exec, args: [] })
  const worker = cluster.fork()
  const reports = new EventEmitter().on('error', ignore)
  const asked = new Map<Question, Promise<Answers[Question]>>()
  let told: string | undefined
  let end: Error | undefined

  worker.on('message', (report: Report) => {
    if (report === 'listening') reports.emit('listening')
    else if ('url' in report) reports.emit('url', report.url)
    else if ('end' in report) told = report.end
    else reports.emit(report.question, report)
  })
  const ended = endOf(worker).then(({ inPeace, how }) => {
    end = new Error(told ?? how)
    reports.emit('error', end)
    return { inPeace, reason: end }
  })
  const url = once(reports, 'url').then(([first]) => first)
  // Nobody waits for that of a successor.
  url.catch(ignore)
  // Node loses what a module is sent before it listens.
  const listening = once(reports, 'listening')

  /** One that has ended hears of nothing. */
  function tell(order: Order): void {
    listening.then(() => worker.send(order, ignore), ignore)
  }

  async function answerOf(question: Question): Promise<Answers[Question]> {
    if (end !== undefined) throw end
    tell({ order: question })
    const [report] = await once(reports, question)
    if ('problem' in report) throw new Error(report.problem)
    return report.answer
  }

  tell({ order: 'serve', config, routes })
  return {
    url,
    ended,
    tell,
    // Who does not answer is not asked the same again.
    ask<Q extends Question>(question: Q) {
      const answer = asked.get(question) ?? answerOf(question).finally(() => asked.delete(question))
      asked.set(question, answer)
      return answer as Promise<Answers[Q]>
    },
    disconnect() {
      if (worker.isConnected()) worker.process.disconnect()
    },
    kill: () => void worker.process.kill('SIGKILL'),
  }
}

type Ending = { inPeace: boolean; how: string }

function endOf(worker: Worker): Promise<Ending> {
  const { pid } = worker.process
  return new Promise((resolve) => {
    worker.on('error', ({ message }) => {
      // Otherwise it is about what was sent to one that ends.
      if (pid === undefined) resolve({ inPeace: false, how: `no worker can be started: ${message}` })
    })
    // What it has told last may come after its exit.
    const disconnected = new Promise((resolve) => worker.once('disconnect', resolve))
    worker.once('exit', async (code, signal) => {
      await disconnected
      resolve({ inPeace: code === 0, how: `worker ${pid} ended ${signal ? `by ${signal}` : `with exit code ${code}`}` })
    })
  })
}
