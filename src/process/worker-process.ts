import { type ChildProcess, fork } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import type { Socket } from 'node:net'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../config/read-config.ts'
import type { Figures } from '../observability/metrics.ts'
import type { Routes } from '../openapi/routes.ts'

export type Answers = { ready: unknown; figures: Figures }
export type Question = keyof Answers

/** What a worker is told, or asked. */
export type Order = { order: 'serve'; config: Config; routes: Routes } | { order: 'drain' | 'close' | Question }

/** "take" carries a connection, which Node drops when the worker has no free descriptor; "confirm" always arrives. */
export type ConnectionOrder = { order: 'take' } | { order: 'confirm' }

/** A message from a worker: listening for orders, serving, ready for the next connection, the reason of its end, an answer. */
export type Report =
  | 'listening'
  | 'serving'
  | 'taken'
  | { end: string }
  | { question: Question; answer: Answers[Question] }
  | { question: Question; problem: string }

export type WorkerProcess = {
  /** Resolves when it serves; rejects with the reason when it has ended before. */
  serving: Promise<unknown>
  /** Resolves when the process has exited, with whether the exit was clean and the reason. */
  ended: Promise<{ inPeace: boolean; reason: Error }>
  tell(order: Order): void
  /** Sends it a connection; resolves with whether it has taken that, one at a time. */
  take(socket: Socket): Promise<boolean>
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
  const worker = fork(exec)
  const reports = new EventEmitter().on('error', ignore)
  const asked = new Map<Question, Promise<Answers[Question]>>()
  let told: string | undefined
  let end: Error | undefined

  worker.on('message', (report: Report) => {
    if (typeof report === 'string') reports.emit(report)
    else if ('end' in report) told = report.end
    else reports.emit(report.question, report)
  })
  const ended = endOf(worker).then(({ inPeace, how }) => {
    end = new Error(told ?? how)
    reports.emit('error', end)
    return { inPeace, reason: end }
  })
  const serving = once(reports, 'serving')
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
    serving,
    ended,
    tell,
    async take(socket) {
      const taken = once(reports, 'taken')
      worker.send({ order: 'take' } satisfies ConnectionOrder, socket, { keepOpen: true }, ignore)
      worker.send({ order: 'confirm' } satisfies ConnectionOrder, ignore)
      return await taken.then(
        () => true,
        () => false,
      )
    },
    // Who does not answer is not asked the same again.
    ask<Q extends Question>(question: Q) {
      const answer = asked.get(question) ?? answerOf(question).finally(() => asked.delete(question))
      asked.set(question, answer)
      return answer as Promise<Answers[Q]>
    },
    disconnect() {
      if (worker.connected) worker.disconnect()
    },
    kill: () => void worker.kill('SIGKILL'),
  }
}

type Ending = { inPeace: boolean; how: string }

function endOf(worker: ChildProcess): Promise<Ending> {
  const { pid } = worker
  return new Promise((resolve) => {
    worker.on('error', ({ message }) => {
      // Otherwise it is about what was sent to one that ends.
      if (pid === undefined) resolve({ inPeace: false, how: `no worker can be started: ${message}` })
    })
    // What it told last may come after its exit. No event is the last one in every case: a disconnect by this process
    // lets no close follow, and while a connection is sent to the worker its end is no disconnect.
    const check = () => {
      const { exitCode, signalCode, connected } = worker
      if (connected || (exitCode === null && signalCode === null)) return
      const how = signalCode === null ? `with exit code ${exitCode}` : `by ${signalCode}`
      resolve({ inPeace: exitCode === 0, how: `worker ${pid} ended ${how}` })
    }
    for (const event of ['exit', 'disconnect', 'close']) worker.once(event, check)
  })
}
