import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { compileRoutes, type Document } from 'fastify-contract-cli/testing'
import { freePort } from 'fastify-contract-test-support/free-port'
import type { OrderSettings } from './orders.ts'

const order = {
  type: 'object',
  required: ['reference'],
  properties: { id: { type: 'integer', format: 'int64' }, reference: { type: 'string' } },
}

const document = {
  openapi: '3.1.0',
  info: { title: 'Orders', version: '1' },
  paths: {
    '/orders': {
      post: {
        operationId: 'createOrder',
        parameters: [{ name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string' } }],
        requestBody: { required: true, content: { 'application/json': { schema: order } } },
        responses: { 201: { content: { 'application/json': { schema: order } } } },
      },
    },
  },
} as unknown as Document

const command = ['--import=fastify-contract-test-support/register-strip-types.js']
const program = fileURLToPath(new URL('keyed-instance.ts', import.meta.url))

/** An instance of the service, which is started again after each kill. */
export class Instance {
  readonly port: number
  readonly #settings: OrderSettings
  #child: ChildProcess | undefined
  #listening: Promise<unknown> | undefined

  private constructor(port: number, settings: OrderSettings) {
    this.port = port
    this.#settings = settings
    this.start()
  }

  static async create(settings: OrderSettings): Promise<Instance> {
    return new Instance(await freePort(), settings)
  }

  start(changed: Partial<OrderSettings> = {}): void {
    const settings = { ...this.#settings, ...changed, routes: compileRoutes(document), port: this.port }
    const env = { ...process.env, KEYED_INSTANCE: JSON.stringify(settings) }
    this.#child = spawn(process.execPath, [...command, program], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    const ended = once(this.#child, 'exit').then(([code, signal]) => {
      throw new Error(`the instance ended with ${code ?? signal}`)
    })
    this.#listening = Promise.race([once(this.#child, 'message'), ended])
    // A kill also ends an instance that does not listen yet.
    this.#listening.catch(() => {})
  }

  /** Resolves when the process that was started last listens. */
  async listens(): Promise<void> {
    await this.#listening
  }

  async kill(): Promise<void> {
    const ended = this.ends()
    this.#child?.kill('SIGKILL')
    await ended
  }

  /** Resolves with the signal that ends the process. */
  async ends(): Promise<NodeJS.Signals | null> {
    const [, signal] = await once(this.#child as ChildProcess, 'exit')
    return signal
  }
}
