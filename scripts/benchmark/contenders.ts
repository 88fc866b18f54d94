import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { directory as peers } from './peers.ts'

export type Contender = {
  name: string
  /** Of Node. */
  args: string[]
  /** Where the service keeps its plants, a new place at each start; undefined for a peer. */
  store?: () => Promise<string>
  /** Whether the service writes a line for each request. */
  accessLog?: boolean
  /** Processes that serve, when it is not one. */
  workers?: number
  /** Whether a plant outlives the process: then each request creates another one. */
  durable?: boolean
  /** Whether the database is a process on the load's core. */
  onLoadCore?: boolean
}

/** A place for plants that each start of the service takes anew. */
export type Stores = { sqlite: string; postgres: () => Promise<string> }

/**
 * Takes a directory for files of SQLite and what makes an empty PostgreSQL database; gives all that is compared, by what
 * `--only` calls it.
 */
export function contendersWith({ sqlite, postgres }: Stores): Record<string, Contender> {
  const peer = (name: string, file: string): Contender => ({ name, args: [join(peers, file)] })
  const stores = {
    memory: { label: 'memory', store: async () => 'memory:', durable: false },
    sqlite: { label: 'SQLite', store: async () => `sqlite:${join(sqlite, randomUUID())}.db`, durable: true },
    postgres: { label: 'PostgreSQL', store: postgres, durable: true, onLoadCore: true },
  }
  const services = Object.entries(stores).flatMap(([key, { label, ...store }]) => {
    const service = { args: ['dist/server.js'], ...store }
    return [
      [key, { ...service, name: `plant-store, ${label}`, accessLog: false }],
      [`${key}-log`, { ...service, name: `plant-store, ${label}, access log`, accessLog: true }],
    ] as const
  })
  return {
    'node-http': peer('node:http by hand', 'node-http.js'),
    fastify: peer('Fastify by hand', 'fastify.js'),
    glue: peer('fastify-openapi-glue', 'fastify-openapi-glue.js'),
    nest: peer('NestJS on Fastify', 'dist/nest.js'),
    hono: peer('Hono with zod-openapi', 'hono.js'),
    'openapi-backend': peer('openapi-backend', 'openapi-backend.js'),
    express: peer('express-openapi-validator', 'express-openapi-validator.js'),
    ...Object.fromEntries(services),
  }
}

/** Takes all of them and names, comma separated; gives those that are named, or all. Throws when there is no such one. */
export function only(contenders: Record<string, Contender>, names: string | undefined): Record<string, Contender> {
  if (names === undefined) return contenders
  const chosen = names.split(',').map((name) => {
    const contender = contenders[name]
    if (contender === undefined) throw new Error(`--only ${name}: allowed are ${Object.keys(contenders).join(', ')}`)
    return [name, contender] as const
  })
  return Object.fromEntries(chosen)
}
