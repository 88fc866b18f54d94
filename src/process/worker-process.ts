import { type ChildProcess, fork } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import type { Socket } from 'node:net'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../config/read-config.ts'
import type { MetricValues } from '../observability/metrics.ts'
import type { Routes } from '../openapi/routes.ts'

export type Answers = { ready: unknown; figures: MetricValues }
export type Question = keyof Answers

/** A message from the primary process to a worker: a command or a question. */
export type PrimaryMessage =
  | { order: 'serve'; config: Config; routes: Routes }
  | { order: 'drain' | 'close' | Question }

/**
 * "connection" carries a socket; Node.js drops the message if the worker has no free file descriptor. "confirm" follows
 * it and always arrives, so that the worker reports "confirmed" in any case.
 */
export type ConnectionOrder = { order: 'connection' } | { order: 'confirm' }

/**
 * A message from a worker: it listens for messages, serves, can receive the next connection, exits for a reason, or
 * answers a question.
 */
export type WorkerMessage =
  | 'listening'
  | 'serving'
  | 'confirmed'
  | { end: string }
  | { question: Question; answer: Answers[Question] }
  | { question: Question; problem: string }

export type WorkerProcess = {
  /** Resolves when the worker serves. Rejects with the reason if it exits before that. */
  serving: Promise<unknown>
  /** Resolves when the process has exited. The exit is clean if its exit code is 0. */
  ended: Promise<{ isClean: boolean; reason: Error }>
  /** Sends a message, which is lost if the worker has exited. */
  send(order: PrimaryMessage): void
  /** Passes a connection to the worker. Resolves with whether the worker is alive; call it again only after that. */
  passConnection(socket: Socket): Promise<boolean>
  /** Asks the worker a question. Rejects with the worker's error, or with the reason of its exit. */
  ask<Q extends Question>(question: Q): Promise<Answers[Q]>
  /** Ends the worker at once, even if requests are in flight. */
  disconnect(): void
  kill(): void
}

const modulePath = fileURLToPath(new URL(`./worker${extname(import.meta.url)}`, import.meta.url))

const ignore = () => {}

/** Starts a worker process with a configuration. */
export function forkWorker(config: Config, routes: Routes): WorkerProcess {
  const worker = fork(modulePath)
  const reports = new EventEmitter().on('error', ignore)
  const pending = new Map<Question, Promise<Answers[Question]>>()
  let reported: string | undefined
  let exitReason: Error | undefined

  worker.on('message', (report: WorkerMessage) => {
    if (typeof report === 'string') reports.emit(report)
    else if ('end' in report) reported = report.end
    else reports.emit(report.question, report)
  })
  const ended = exitOf(worker).then(({ isClean, message }) => {
    exitReason = new Error(reported ?? message)
    reports.emit('error', exitReason)
    return { isClean, reason: exitReason }
  })
  const serving = once(reports, 'serving')
  // Node.js loses messages that are sent before the worker's module listens for them.
  const listening = once(reports, 'listening')

  function send(order: PrimaryMessage): void {
    listening.then(() => worker.send(order, ignore), ignore)
  }

  async function answerOf(question: Question): Promise<Answers[Question]> {
    if (exitReason !== undefined) throw exitReason
    send({ order: question })
    const [report] = await once(reports, question)
    if ('problem' in report) throw new Error(report.problem)
    return report.answer
  }

  send({ order: 'serve', config, routes })
  return {
    serving,
    ended,
    send,
    async passConnection(socket) {
      const confirmed = once(reports, 'confirmed')
      worker.send({ order: 'connection' } satisfies ConnectionOrder, socket, { keepOpen: true }, ignore)
      worker.send({ order: 'confirm' } satisfies ConnectionOrder, ignore)
      return await confirmed.then(
        () => true,
        () => false,
      )
    },
    // If the same question is pending, its answer serves both.
    ask<Q extends Question>(question: Q) {
      const answer = pending.get(question) ?? answerOf(question).finally(() => pending.delete(question))
      pending.set(question, answer)
      return answer as Promise<Answers[Q]>
    },
    disconnect() {
      if (worker.connected) worker.disconnect()
    },
    kill: () => void worker.kill('SIGKILL'),
  }
}

type Exit = { isClean: boolean; message: string }

function exitOf(worker: ChildProcess): Promise<Exit> {
  const { pid } = worker
  return new Promise((resolve) => {
    worker.on('error', ({ message }) => {
      // With a pid, the error is about a message to a worker that is exiting.
      if (pid === undefined) resolve({ isClean: false, message: `cannot start a worker: ${message}` })
    })
    // Waits for both the exit and the disconnect, since the last message may arrive after the exit. No single event
    // is reliable: after a disconnect by this process no "close" follows, and the exit of a worker causes no
    // "disconnect" while a connection is being sent to it.
    const check = () => {
      const { exitCode, signalCode, connected } = worker
      if (connected || (exitCode === null && signalCode === null)) return
      const cause = signalCode === null ? `with exit code ${exitCode}` : `by ${signalCode}`
      resolve({ isClean: exitCode === 0, message: `worker ${pid} ended ${cause}` })
    }
    for (const event of ['exit', 'disconnect', 'close']) worker.once(event, check)
  })
}
